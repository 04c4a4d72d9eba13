// A call of a remote agent: sent, or gone on with where an earlier call of it stopped (S45–S47).

import type { Part } from "@a2a-js/sdk";
import type { Json } from "../../base/json.ts";
import { stepClosed, type ToolAnswer } from "../../engine/ports.ts";
import { redacted } from "../mcp/tool-result.ts";
import { toolError } from "../tool/bound-tool.ts";
import { type AgentCall, type Arrived, cancelTask, opened, sendMessage } from "./agent-call.ts";
import { newHandle, readHandle, type TaskHandle, toJson } from "./call-handle.ts";
import { again, followTask, standing } from "./follow-task.ts";
import { replyOf, standingOf } from "./task-outcome.ts";
import { lostQuestion, SEND_AGAIN } from "./task-question.ts";

export async function callAgent(call: AgentCall, parts: Part[]): Promise<ToolAnswer> {
  const handle = readHandle(call.context.handle);
  if (handle === undefined) return await sent(call, parts);
  if (handle.lost) return await decided(call, { handle, parts });
  const followed = await followTask(call, handle);
  if (followed !== "lost") return followed;
  return call.safe ? await sent(call, parts) : doubted(call, handle);
}

/** How long a call that was given up waits for the name of what it has begun. */
const LINGER_MS = 2000;

async function sent(call: AgentCall, parts: Part[]): Promise<ToolAnswer> {
  const { context, around } = call;
  const agent = await opened(call);
  using lingering = lingeringSignal(context.signal);
  const waiting = { ...call, context: { ...context, signal: lingering.signal } };
  const arrived = await sendMessage(waiting, agent, { messageId: context.key, parts });
  if (context.signal.aborted) await ended(waiting, arrived);
  context.signal.throwIfAborted();
  if (arrived.kind === "message") return replyOf(arrived.message, call);
  const handle = newHandle(arrived.id, arrived.context, around.clock.now());
  const { task } = arrived;
  return task === undefined || standingOf(task) === "working"
    ? again(call, handle, 0)
    : standing(call, handle, task);
}

/** Nobody will hear of it from the journal, so what was begun is ended here. */
async function ended(call: AgentCall, arrived: Arrived): Promise<void> {
  if (arrived.kind === "task") await cancelTask(call, arrived.id);
}

/** Aborted as the given one, but a moment later when the call was given up for good. */
function lingeringSignal(signal: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    if (signal.reason !== stepClosed) late.abort(signal.reason);
    else timer = setTimeout(() => late.abort(signal.reason), LINGER_MS);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return {
    signal: late.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}

/** S46: whether it took effect is unknown, so a person says what is to be done. */
function doubted({ label, hide }: AgentCall, handle: TaskHandle): ToolAnswer {
  const question = redacted(lostQuestion(handle.task, label), hide);
  return { deferred: true, question, handle: toJson({ ...handle, lost: true }) };
}

async function decided(
  call: AgentCall,
  { handle, parts }: { readonly handle: TaskHandle; readonly parts: Part[] },
): Promise<ToolAnswer> {
  if (isAgain(call.context.input)) return await sent(call, parts);
  return toolError("task_lost", `agent \`${call.label}\` no longer knows task \`${handle.task}\``);
}

const isAgain = (input: Json | undefined): boolean =>
  typeof input === "string" && input.trim().toLowerCase() === SEND_AGAIN;

/** For a call that nobody waits for any more. */
export async function stopAgent(call: AgentCall): Promise<void> {
  const handle = readHandle(call.context.handle);
  if (handle !== undefined && !handle.lost) await cancelTask(call, handle.task);
}
