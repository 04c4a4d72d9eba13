// What is watched must not suffer from who watches: whatever goes wrong here is told to OpenTelemetry's own
// diagnostics, and the run goes on.

import { diag } from "@opentelemetry/api";
import type { CallWatch } from "../engine/observer.ts";
import type { CallTrace } from "../engine/ports.ts";

export function guarded<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch (error) {
    diag.error("packloop: telemetry failed", error);
    return otherwise;
  }
}

export function guardedCall(watch: CallWatch): CallWatch {
  const { headers } = watch.trace;
  const trace: CallTrace = {
    headers,
    note: (details) => guarded(() => watch.trace.note(details), undefined),
    part: (part, request) => watch.trace.part(part, request),
  };
  return {
    trace,
    within: (call) => watch.within(call),
    ended: (end) => guarded(() => watch.ended(end), undefined),
  };
}

/** Where watching itself failed: the call is made as if nobody watched. */
export const unwatchedCall: CallWatch = {
  trace: { headers: undefined, note: () => undefined, part: (_part, request) => request(undefined) },
  within: (call) => call(),
  ended: () => undefined,
};
