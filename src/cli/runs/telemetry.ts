// Telemetry of a command that drives runs: nothing is loaded for it unless the environment, or packloop.yaml,
// asks for it.

import type { EngineObserver } from "../../engine/observer.ts";
import type { Store, TraceHeaders } from "../../engine/ports.ts";
import type { Redaction } from "../../engine/redaction.ts";
import { incomingTrace, readTrace } from "../../engine/trace-context.ts";
import { noSettings, type RunSettings, settingsIn } from "../../host/run-settings.ts";
import { type TelemetrySettings, telemetryEnv, unsetVariables } from "../../host/telemetry-settings.ts";
import { note } from "../output.ts";
import { findRun } from "./run-id.ts";

export interface CommandTelemetry extends AsyncDisposable {
  /** Whom the engine is to tell what happens. */
  observer(redaction: Redaction): EngineObserver | undefined;
}

/** Closed last: what ends with the engine is still to be sent. */
export async function openTelemetry(settings: TelemetrySettings | undefined): Promise<CommandTelemetry> {
  if (!isWanted(settings)) return { observer: () => undefined, [Symbol.asyncDispose]: async () => undefined };
  const { startSdk } = await import("../../telemetry/start-sdk.ts");
  const { telemetryFromEnv } = await import("../../telemetry/telemetry.ts");
  const warn = (line: string) => note(`warning: ${line}`);
  for (const name of unsetVariables(settings, process.env))
    warn(`\`${name}\` is not set, so its header of \`telemetry\` is not sent`);
  const env = telemetryEnv(settings, process.env);
  const sdk = await startSdk({ env, warn, folder: process.cwd() });
  return {
    observer: (redaction) => telemetryFromEnv(redaction, env),
    [Symbol.asyncDispose]: () => sdk.flush(),
  };
}

/** As the run remembers it. The store is let go of where there is no such run. */
export async function rememberedTelemetry(
  store: Store,
  given: string,
  adjust: (settings: RunSettings) => RunSettings = (settings) => settings,
): Promise<CommandTelemetry> {
  try {
    const { run } = await findRun(store, given);
    const remembered = settingsIn((await store.record(run))?.setup ?? {});
    return await openTelemetry(adjust(remembered ?? noSettings(".")).telemetry);
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
}

/** The trace that whoever started this command is in. */
export const callersTrace = (): TraceHeaders | undefined =>
  readTrace({
    traceparent: process.env["TRACEPARENT"],
    tracestate: process.env["TRACESTATE"],
    baggage: process.env["BAGGAGE"],
  });

export const inCallersTrace = <T>(work: () => T): T => incomingTrace.run(callersTrace(), work);

/** Somebody registered a provider, export is asked for, or there is a trace to go on with. */
function isWanted(settings: TelemetrySettings | undefined): boolean {
  if (settings?.endpoint !== undefined) return true;
  if (callersTrace() !== undefined || Symbol.for("opentelemetry.js.api.1") in globalThis) return true;
  return Object.keys(process.env).some((name) => name.startsWith("OTEL_") && /EXPORTER/.test(name));
}
