// Starts the OpenTelemetry SDK where the environment asks for export and nobody has started one. The SDK is
// not part of this package: it is used where it is installed.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isSpanContextValid, trace } from "@opentelemetry/api";
import { SCOPE } from "./names.ts";

export interface StartedSdk {
  /** Sends what is left. A collector that does not answer is waited for a moment, and no longer. */
  flush(): Promise<void>;
}

export interface SdkOptions {
  /** What the SDK is to find in the environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly warn: (line: string) => void;
  /** Where the SDK may be installed, beside this package. */
  readonly folder: string;
}

const PACKAGE = "@opentelemetry/sdk-node";
const FLUSH_MS = 2_000;
/** What still keeps the process then is a connection to a collector that does not answer. */
const LEAVE_MS = 100;

const nothing: StartedSdk = { flush: async () => undefined };

/** Set, they ask for export; save where they say `none`. */
const EXPORTERS = ["OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER"];
const ENDPOINTS = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
];

function asksForExport(env: SdkOptions["env"]): boolean {
  const given = (name: string) => (env[name] ?? "").trim();
  if (given("OTEL_SDK_DISABLED").toLowerCase() === "true") return false;
  if (EXPORTERS.every((name) => given(name) === "none")) return false;
  return (
    ENDPOINTS.some((name) => given(name) !== "") ||
    EXPORTERS.some((name) => given(name) !== "" && given(name) !== "none")
  );
}

export async function startSdk(options: SdkOptions): Promise<StartedSdk> {
  const { env, warn } = options;
  if (!asksForExport(env) || hasProvider()) return nothing;
  const module = await loadSdk(options.folder);
  if (module === undefined) {
    const who = asksForExport(process.env) ? "OTEL_* variables ask" : "`telemetry` in packloop.yaml asks";
    warn(`${who} for telemetry, which needs \`${PACKAGE}\` (run: npm install ${PACKAGE})`);
    return nothing;
  }
  const sdk = withVariables(variablesOf(env), () => {
    const made = new module.NodeSDK(settingsOf(env));
    made.start();
    return made;
  });
  return { flush: () => flushed(sdk, warn) };
}

/** Only a real provider gives ids. */
const hasProvider = (): boolean =>
  isSpanContextValid(trace.getTracer(SCOPE).startSpan("probe", { root: true }).spanContext());

type Sdk = typeof import("@opentelemetry/sdk-node");

/** Beside this package, or where the command was started. */
async function loadSdk(folder: string): Promise<Sdk | undefined> {
  try {
    return await import("@opentelemetry/sdk-node");
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    const path = createRequire(join(folder, "package.json")).resolve(PACKAGE);
    const found = (await import(pathToFileURL(path).href)) as Sdk & { readonly default?: Sdk };
    return found.NodeSDK === undefined ? found.default : found;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const isMissing = (error: unknown): boolean =>
  ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"].includes((error as NodeJS.ErrnoException).code ?? "");

function settingsOf(env: SdkOptions["env"]): ConstructorParameters<Sdk["NodeSDK"]>[0] {
  const isNamed =
    (env["OTEL_SERVICE_NAME"] ?? "") !== "" || /service\.name=/.test(env["OTEL_RESOURCE_ATTRIBUTES"] ?? "");
  return {
    ...(!isNamed && { serviceName: "packloop" }),
    // Nothing is logged through it.
    ...((env["OTEL_LOGS_EXPORTER"] ?? "") === "" && { logRecordProcessors: [] }),
  };
}

const DETECTORS = "OTEL_NODE_RESOURCE_DETECTORS";

/**
 * What the SDK is to find and would not. Its own choice of detectors would send the command line with
 * everything: variables of a run may be on it, and in them a secret.
 */
function variablesOf(env: SdkOptions["env"]): ReadonlyMap<string, string> {
  const wanted = { ...env, [DETECTORS]: env[DETECTORS] || "env,serviceinstance" };
  const variables = new Map<string, string>();
  for (const [name, value] of Object.entries(wanted))
    if (name.startsWith("OTEL_") && value !== undefined && value !== process.env[name])
      variables.set(name, value);
  return variables;
}

/** Only as long as they are read: a header is a secret, and tools may inherit the environment. */
function withVariables<T>(variables: ReadonlyMap<string, string>, make: () => T): T {
  const before = [...variables.keys()].map((name) => [name, process.env[name]] as const);
  for (const [name, value] of variables) process.env[name] = value;
  try {
    return make();
  } finally {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
}

async function flushed(sdk: { shutdown(): Promise<void> }, warn: SdkOptions["warn"]): Promise<void> {
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => late.resolve("late"), FLUSH_MS);
  const sent = sdk.shutdown().then(
    () => "sent" as const,
    () => "failed" as const,
  );
  const outcome = await Promise.race([sent, late.promise]);
  clearTimeout(timer);
  if (outcome === "sent") return;
  warn("telemetry could not be sent (is the collector there?)");
  setTimeout(() => process.exit(), LEAVE_MS).unref();
}
