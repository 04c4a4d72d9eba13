// What leaves the agent: the request for a tool, and the one event that ends a run. Each is made from the
// record alone, so that a job that is run again says the same to the byte.

import { must } from "../base/assert.ts";
import { isObject, type Json, type JsonObject, put } from "../base/json.ts";
import type { RunRecord } from "./run-record.ts";

export interface AgentEvent {
  readonly type: string;
  readonly payload: JsonObject;
  readonly dedupe_key: string;
  readonly event_id: string;
}

const RESERVED: ReadonlySet<string> = new Set([
  ...["run_id", "step", "tool", "tool_command", "attempt", "requested_at"],
  ...["agentic", "tool_payload", "ductile"],
]);

/** Correlation, and what hosts keep for themselves: never from a tool's input, never blanked. */
const isReserved = (key: string): boolean => RESERVED.has(key) || /^(ductile_|origin_|gateway_)/.test(key);

/** Most that a request may weigh. */
export const REQUEST_BYTES_MAX = 96 * 1024;

export function toolRequest(runId: string, run: RunRecord): AgentEvent {
  const step = must(run.pending_step, "a request has a step");
  const tool = must(run.pending_tool, "a request has a tool");
  const { attempt } = run;
  const input = ordered(run.pending_input ?? {}) as JsonObject;
  const payload: Record<string, Json> = {
    run_id: runId,
    step,
    tool,
    tool_command: "handle",
    attempt,
    requested_at: must(run.pending_since, "a request has a time"),
    agentic: { v: 1, run_id: runId, step, tool, attempt, workspace_ref: run.workspace_ref },
    tool_payload: input,
  };
  for (const [key, value] of Object.entries(input)) if (!isReserved(key)) put(payload, key, value);
  // Hides what a host lets leak from earlier steps; an explicit null is all that does.
  for (const key of [...run.pending_blanked].sort())
    if (!Object.hasOwn(payload, key)) put(payload, key, null);
  const again = attempt === 1 ? "" : `:attempt:${attempt}`;
  return {
    type: `agentic.tool_request.${tool}`,
    payload,
    dedupe_key: `agentic:run:${runId}:step:${step}${again}:request`,
    event_id: `agentic.${runId}.${step}.${attempt}.request`,
  };
}

/** Hosts do not keep the order of keys. */
function ordered(value: Json): Json {
  if (Array.isArray(value)) return value.map((one: Json) => ordered(one));
  if (!isObject(value)) return value;
  const object: Record<string, Json> = {};
  for (const key of Object.keys(value).sort()) put(object, key, ordered(value[key] as Json));
  return object;
}

/** Keys of the context that would reach the tool although they are none of its input. */
export function blankedKeys(context: JsonObject | undefined, input: JsonObject): readonly string[] {
  const inherited = Object.keys(context ?? {});
  return inherited.filter((key) => !isReserved(key) && !Object.hasOwn(input, key)).sort();
}

export function finalEvent(runId: string, run: RunRecord): AgentEvent {
  const how = run.status === "done" ? "completed" : "escalated";
  return {
    type: `agent.${how}`,
    payload: ordered(must(run.final, "a run that ended has a final event")) as JsonObject,
    dedupe_key: `agentic:run:${runId}:${how}`,
    event_id: `agentic.${runId}.${how}`,
  };
}
