// A task of an MCP server, followed from outside: each look either ends the call or says when to look again.
// Nothing is held open in between, so it makes no difference which process looks.

import { get, isObject, type Json, type JsonObject, put } from "../../base/json.ts";
import { type CallContext, Fault, type Later, type ToolAnswer } from "../../engine/ports.ts";
import { toolError } from "../tool/bound-tool.ts";
import { type TaskHandle, toJson } from "./call-handle.ts";
import { type CallPlace, limitsOf, type Performed, performed } from "./call-place.ts";
import { questionsOf, responsesOf } from "./questions.ts";
import { answerOf, cut, redacted } from "./tool-result.ts";

const LOOK_AGAIN_MS = 1000;
const LOOK_LEAST_MS = 100;
const LOOK_MOST_MS = 3_600_000;
/** Looks at a long task grow rarer, up to this pause, because each one is kept in the journal. */
const PATIENCE_MS = 60_000;
/** A server may be away for a while; a task outlives that. */
const MISSES_MAX = 60;

/** The answer once the task is over; "lost" when the server does not know it. */
export async function followTask(
  place: CallPlace,
  handle: TaskHandle,
  context: CallContext,
): Promise<ToolAnswer | "lost"> {
  const reply = context.input ?? handle.reply;
  try {
    const told = reply === null ? handle : await tell(place, { ...handle, reply }, context);
    const looked = await ask(place, "tasks/get", { taskId: handle.task }, context);
    if (looked.ok) return await moved(place, { handle: { ...told, misses: 0 }, task: looked.value }, context);
    if (looked.answer.code === "invalid_arguments") return "lost";
    if (looked.answer.code !== "mcp_error") return looked.answer;
    throw new Fault("mcp_unavailable", looked.answer.message, { retry: "later" });
  } catch (error) {
    if (!(error instanceof Fault) || error.retry === "never" || handle.misses >= MISSES_MAX) throw error;
    const misses = handle.misses + 1;
    return again(place, { ...handle, reply, misses }, Math.max(error.afterMs ?? 0, LOOK_AGAIN_MS * misses));
  }
}

/** A task that has just been made is looked at when the server says, or at once when it is over already. */
export async function newTask(place: CallPlace, task: JsonObject, context: CallContext): Promise<ToolAnswer> {
  const id = String(task["taskId"]);
  const now = place.around.clock.now();
  const handle: TaskHandle = { task: id, since: now, asked: [], answered: [], reply: null, misses: 0 };
  if (task["status"] === "working") return again(place, handle, pauseOf(task));
  const followed = await followTask(place, handle, context);
  return followed === "lost" ? toolError("task_lost", `task \`${id}\` is unknown to its server`) : followed;
}

/** Hands a person's answer over. One that does not fit is dropped, and the server goes on asking. */
async function tell(place: CallPlace, handle: TaskHandle, context: CallContext): Promise<TaskHandle> {
  const inputResponses = responsesOf(handle.asked, handle.reply);
  const told = { ...handle, asked: [], reply: null };
  if (inputResponses === undefined) return told;
  await ask(place, "tasks/update", { taskId: handle.task, inputResponses }, context);
  return { ...told, answered: [...handle.answered, ...handle.asked.map(({ key }) => key)] };
}

async function moved(
  place: CallPlace,
  { handle, task }: { readonly handle: TaskHandle; readonly task: JsonObject },
  context: CallContext,
): Promise<ToolAnswer> {
  const message = typeof task["statusMessage"] === "string" ? `: ${cut(task["statusMessage"], 1024)}` : "";
  switch (task["status"]) {
    case "completed":
    case "failed":
      return await finished(place, task, context);
    case "cancelled":
      return toolError("task_cancelled", place.server.redact(`the server cancelled the task${message}`));
    case "input_required":
      return asksFor(place, handle, task);
    default:
      return again(place, handle, pauseOf(task));
  }
}

async function finished(place: CallPlace, task: JsonObject, context: CallContext): Promise<ToolAnswer> {
  const { redact } = place.server;
  const limits = { maxBytes: place.maxBytes, redact };
  if (isObject(task["result"])) return answerOf(task["result"], limits);
  const message = get(task["error"], "message") ?? task["statusMessage"] ?? "it says no more";
  const failed = toolError("task_failed", redact(cut(`the task failed: ${String(message)}`, 2048)));
  if (task["status"] === "failed" && (task["error"] !== undefined || place.server.connection.isModern))
    return failed;
  // The older generation keeps results apart from tasks.
  const result = await ask(place, "tasks/result", { taskId: String(task["taskId"]) }, context);
  return result.ok ? answerOf(result.value, limits) : result.answer;
}

function asksFor(place: CallPlace, handle: TaskHandle, task: JsonObject): ToolAnswer {
  if (!place.server.connection.isModern)
    return toolError(
      "input_unsupported",
      "the task waits for input, which servers before 2026-07-28 only ask over an open connection",
    );
  const open: Record<string, Json> = {};
  const requests = isObject(task["inputRequests"]) ? task["inputRequests"] : {};
  for (const [key, request] of Object.entries(requests))
    if (!handle.answered.includes(key)) put(open, key, request);
  if (Object.keys(open).length === 0) return again(place, handle, pauseOf(task));
  const questions = questionsOf(open, place.label);
  if (questions === undefined)
    return toolError("input_unsupported", "the task waits for input that no person can give here");
  const { asked } = questions;
  const question = redacted(questions.question, place.server.redact);
  return { deferred: true, question, handle: toJson({ ...handle, asked }) };
}

function again({ around }: CallPlace, handle: TaskHandle, pauseMs: number): Later {
  const now = around.clock.now();
  const patience = Math.min(PATIENCE_MS, (now - handle.since) / 10);
  const until = now + Math.ceil(Math.max(pauseMs, patience));
  return { deferred: true, until, handle: toJson(handle), looks: true };
}

/** As the server suggests it, under either generation's name. */
function pauseOf(task: JsonObject): number {
  const pause = task["pollIntervalMs"] ?? task["pollInterval"];
  if (typeof pause !== "number") return LOOK_AGAIN_MS;
  return Math.min(Math.max(pause, LOOK_LEAST_MS), LOOK_MOST_MS);
}

/** Requests about a task may be repeated. */
async function ask(
  place: CallPlace,
  method: string,
  params: JsonObject,
  context: CallContext,
): Promise<Performed<JsonObject>> {
  const request = place.server.connection.request(method, params, limitsOf(place, context));
  return await performed({ ...place, safe: true }, request, context);
}
