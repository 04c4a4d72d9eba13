// Which step of which run an event speaks of. Tools may say anything in their payload; what a host carried
// beside it comes first.

import { get, isObject, type Json, type JsonObject } from "../base/json.ts";

export interface Correlation {
  readonly runId: string;
  readonly step: number;
  readonly tool: string;
  /** Undefined: the pending one is meant. */
  readonly attempt: number | undefined;
}

export interface Correlated {
  readonly found: Correlation;
  /** The host and an explicit result name different steps. */
  readonly conflict: boolean;
}

export const TOOL_RESULT = "agentic.tool_result";

/** Never from `event.payload.agentic`: hosts merge payloads over contexts there, so a tool could forge it. */
export function correlate(event: JsonObject, context: JsonObject | undefined): Correlated | undefined {
  const payload = get(event, "payload");
  const explicit = get(event, "type") === TOOL_RESULT;
  const carried = correlationIn(get(context, "agentic"));
  const said = explicit ? correlationIn(payload) : undefined;
  const found = carried ?? said ?? correlationIn(context) ?? correlationIn(payload);
  if (found === undefined) return undefined;
  const conflict = carried !== undefined && said !== undefined && !agree(carried, said);
  // A tool that speaks of agents may name the attempt only where the host carried none.
  return { found: { ...found, attempt: found.attempt ?? said?.attempt }, conflict };
}

const agree = (a: Correlation, b: Correlation): boolean =>
  a.runId === b.runId && a.step === b.step && a.tool === b.tool;

function correlationIn(value: Json | undefined): Correlation | undefined {
  if (!isObject(value)) return undefined;
  const runId = get(value, "run_id");
  const step = ordinal(get(value, "step"));
  const tool = get(value, "tool");
  if (typeof runId !== "string" || step === undefined || typeof tool !== "string") return undefined;
  return { runId, step, tool, attempt: ordinal(get(value, "attempt")) };
}

function ordinal(value: Json | undefined): number | undefined {
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 1 ? number : undefined;
}
