// What a plugin answered, as the answer of a tool. Plugins know nothing of agents: their one event's payload
// is the result; several events are all of it; without one, the line for people is.

import { get, isObject, type Json, type JsonObject } from "../../../base/json.ts";
import { Fault, type ToolAnswer } from "../../../engine/ports.ts";
import type { PluginFailure, PluginSuccess } from "../../../process/plugin-protocol.ts";
import { toolError } from "../bound-tool.ts";

/** A plugin that speaks of the call itself uses this type. */
const EXPLICIT = "agentic.tool_result";

const LOGS_SHOWN = 3;

export function pluginAnswer(
  verdict: PluginSuccess | PluginFailure,
  { retrySafe }: { retrySafe: boolean },
): ToolAnswer {
  if (verdict.kind === "failed") return failure(verdict, retrySafe);
  const { events, result } = verdict;
  const [first] = events;
  if (first === undefined) {
    if (result === undefined)
      return toolError("tool_no_event", "the plugin answered neither an event nor a result");
    return { ok: true, value: { summary: result } };
  }
  if (events.length === 1)
    return first.type === EXPLICIT ? explicit(first.payload, retrySafe) : { ok: true, value: first.payload };
  const all = events.map(({ type, payload }) => ({ type, payload }));
  return { ok: true, value: { ...(result !== undefined && { summary: result }), events: all } };
}

function failure({ code, message, retry, logs }: PluginFailure, retrySafe: boolean): ToolAnswer {
  const warned = logs.filter(({ level }) => level === "error" || level === "warn").slice(-LOGS_SHOWN);
  const text = [message, ...warned.map((log) => `${log.level}: ${log.message.slice(0, 300)}`)].join("\n");
  if (retry && retrySafe) throw new Fault(code, text, { retry: "later" });
  return toolError(code, text);
}

function explicit(payload: JsonObject, retrySafe: boolean): ToolAnswer {
  const status = get(payload, "status");
  if (status === "ok") return { ok: true, value: get(payload, "result") ?? null };
  if (status !== "error") return toolError("bad_result", "the plugin's result is neither ok nor error");
  const error: Json = get(payload, "error") ?? null;
  const failed = (name: string, message: string, retryable: boolean): ToolAnswer => {
    if (retryable && retrySafe) throw new Fault(name, message, { retry: "later" });
    return toolError(name, message);
  };
  if (!isObject(error)) return failed("tool_failed", String(error ?? "the plugin failed"), true);
  const code = get(error, "code");
  const message = String(get(error, "message") ?? "the plugin failed").slice(0, 500);
  return failed(typeof code === "string" ? code : "tool_failed", message, get(error, "retryable") === true);
}
