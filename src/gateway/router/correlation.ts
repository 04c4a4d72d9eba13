// What binds a tool's job to the agent's step: taken from the request when it enters a pipeline, kept in the
// context, and out of reach of every plugin from then on.

import { get, isObject, type Json, type JsonObject } from "../../base/json.ts";

export const REQUEST = "agentic.tool_request.";
const RESULT = "agentic.tool_result";
export const START = "agentic.start";
/** One of them ends a run. */
export const ENDS: ReadonlySet<string> = new Set(["agent.completed", "agent.escalated"]);

/** Null when the request does not say which run, step and tool it is about. */
export function requestCorrelation(payload: JsonObject): JsonObject | null {
  return correlationIn(get(payload, "agentic")) ?? correlationIn(payload);
}

function correlationIn(value: Json | undefined): JsonObject | null {
  if (!isObject(value)) return null;
  const run = get(value, "run_id");
  const tool = get(value, "tool");
  const step = ordinal(get(value, "step"));
  if (typeof run !== "string" || run === "" || typeof tool !== "string" || tool === "") return null;
  if (step === undefined) return null;
  const ref = get(value, "workspace_ref");
  return {
    v: get(value, "v") ?? 1,
    run_id: run,
    step,
    tool,
    attempt: ordinal(get(value, "attempt")) ?? 1,
    ...(typeof ref === "string" && { workspace_ref: ref }),
  };
}

function ordinal(value: Json | undefined): number | undefined {
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 1 ? number : undefined;
}

export interface ToolError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

const MESSAGE_MAX = 500;

/** The event that tells an agent what became of its request, when no tool will. */
export function errorResult(
  agentic: JsonObject,
  { code, message, retryable }: ToolError,
  { eventId, at }: { eventId: string; at: string },
): { readonly event: JsonObject; readonly dedupeKey: string } {
  const { run_id: run, step, tool } = agentic;
  const attempt = get(agentic, "attempt") ?? 1;
  const again = attempt === 1 ? "" : `:attempt:${attempt}`;
  const dedupeKey = `agentic:run:${run}:step:${step}${again}:result`;
  const error = { code, message: message.slice(0, MESSAGE_MAX), retryable };
  const payload = {
    ...{ run_id: run ?? null, step: step ?? null, tool: tool ?? null, attempt },
    ...{ status: "error", result: null, error, completed_at: at },
  };
  const event = {
    ...{ type: RESULT, payload, dedupe_key: dedupeKey },
    ...{ event_id: eventId, source: "gateway", timestamp: at },
  };
  return { event, dedupeKey };
}
