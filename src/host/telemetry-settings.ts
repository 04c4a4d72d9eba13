// The part of packloop.yaml that says where spans and metrics go. It only fills in what the environment
// leaves open: each setting stands for a variable, and the variable wins where it is set.

import { nodeHttp } from "../adapter/net/node-http.ts";
import { OptionReader } from "../adapter/tool/option-reader.ts";
import { put } from "../base/json.ts";

/** Kept with a run as JSON, which an interface would not pass for. */
export type TelemetrySettings = {
  /** The collector, as of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint?: string;
  /** Names of the variables whose values are sent as headers, by header. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: boolean;
  readonly serviceName?: string;
};

type Env = Readonly<Record<string, string | undefined>>;

export function readTelemetry(section: OptionReader | undefined): TelemetrySettings | undefined {
  if (section === undefined) return undefined;
  const endpoint = section.text("endpoint");
  const problem = endpoint === undefined ? undefined : endpointProblem(endpoint);
  if (problem !== undefined) section.wrong("endpoint", problem);
  const headers = readHeaders(section);
  const content = section.flag("content");
  const serviceName = section.text("service_name");
  if (serviceName?.trim() === "") section.wrong("service_name", "`service_name` is empty");
  section.end();
  return {
    ...(endpoint !== undefined && { endpoint }),
    ...(headers !== undefined && { headers }),
    ...(content !== undefined && { content }),
    ...(serviceName !== undefined && { serviceName }),
  };
}

function endpointProblem(endpoint: string): string | undefined {
  const url = URL.parse(endpoint);
  if (url === null || !/^https?:$/.test(url.protocol))
    return `\`${endpoint}\` is not an address (write \`http://127.0.0.1:4318\`)`;
  if (url.username + url.password !== "")
    return "the address carries credentials (name their variable under `headers`, as `authorization_env`)";
  return undefined;
}

const FROM_ENV = /_env$/i;

/** Whatever a collector wants to be sent is a secret. */
function readHeaders(section: OptionReader): Readonly<Record<string, string>> | undefined {
  const given = section.object("headers");
  if (given === undefined) return undefined;
  const reader = new OptionReader(given, ["telemetry", "headers"], section.problems);
  const headers: Record<string, string> = {};
  for (const key of Object.keys(given)) {
    const header = key.replace(FROM_ENV, "").toLowerCase();
    if (!FROM_ENV.test(key))
      reader.wrong(key, `headers are not written down (write \`${key}_env\` and the name of a variable)`);
    else if (!isHeader(header)) reader.wrong(key, `\`${header}\` cannot be sent as a header`);
    else put(headers, header, reader.text(key) ?? "");
  }
  return headers;
}

function isHeader(name: string): boolean {
  try {
    nodeHttp().validateHeaderName(name);
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** The environment as it would be if every setting were set in it. */
export function telemetryEnv(settings: TelemetrySettings | undefined, env: Env): Env {
  if (settings === undefined) return env;
  const { endpoint, content, serviceName } = settings;
  const isSet = (name: string) => (env[name] ?? "").trim() !== "";
  const isNamed = /(^|,)\s*service\.name\s*=/.test(env["OTEL_RESOURCE_ATTRIBUTES"] ?? "");
  const headers = headerPairs(settings, env);
  const wanted: Record<string, string> = {
    ...(endpoint !== undefined && !namesCollector(env) && { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }),
    ...(headers !== "" && { OTEL_EXPORTER_OTLP_HEADERS: headers }),
    ...(serviceName !== undefined && !isNamed && { OTEL_SERVICE_NAME: serviceName }),
    ...(content !== undefined && { PACKLOOP_OTEL_CONTENT: content ? "1" : "0" }),
  };
  const filled = Object.entries(wanted).filter(([name]) => !isSet(name));
  return { ...env, ...Object.fromEntries(filled) };
}

const ENDPOINT = /^OTEL_EXPORTER_OTLP_(TRACES_|METRICS_)?ENDPOINT$/;

const namesCollector = (env: Env): boolean =>
  Object.entries(env).some(([name, value]) => ENDPOINT.test(name) && (value ?? "").trim() !== "");

/** Headers for one collector are not for another that the environment names in its place. */
const sentHeaders = ({ endpoint, headers = {} }: TelemetrySettings, env: Env): readonly [string, string][] =>
  endpoint !== undefined && namesCollector(env) ? [] : Object.entries(headers);

function headerPairs(settings: TelemetrySettings, env: Env): string {
  const pairs = sentHeaders(settings, env).flatMap(([header, variable]) => {
    const value = env[variable]?.trim() ?? "";
    return value === "" ? [] : [`${encodeURIComponent(header)}=${encodeURIComponent(value)}`];
  });
  return pairs.join(",");
}

/** Variables of headers that would be sent if they were set. */
export const unsetVariables = (settings: TelemetrySettings | undefined, env: Env): readonly string[] =>
  sentHeaders(settings ?? {}, env)
    .map(([, variable]) => variable)
    .filter((variable) => (env[variable] ?? "").trim() === "");
