// A task of a remote agent, followed from outside: each look either ends the call or says when to look again.
// Where the agent streams, a look waits for news; nothing of that is needed to go on, so it makes no
// difference which process looks.

import type { StreamResponse, Task } from "@a2a-js/sdk";
import type { Json } from "../../base/json.ts";
import { Fault, type Later, type ToolAnswer } from "../../engine/ports.ts";
import { redacted } from "../mcp/tool-result.ts";
import { toolError } from "../tool/bound-tool.ts";
import { type AgentCall, cancelTask, getTask, opened, sendMessage, watchTask } from "./agent-call.ts";
import { type TaskHandle, toJson } from "./call-handle.ts";
import { outcomeOf, type Standing, standingOf } from "./task-outcome.ts";
import { answerParts, authQuestion, inputQuestion, questionId } from "./task-question.ts";

const LOOK_AGAIN_MS = 1000;
/** Looks at a long task grow rarer, up to this pause, because each one is kept in the journal. */
const PATIENCE_MS = 60_000;
/** While a person is asked, somebody else may answer the agent: that is looked for rarely. */
const ASKED_LEAST_MS = 60_000;
const ASKED_MOST_MS = 3_600_000;
/** An agent may be away for a while; a task outlives that. */
const MISSES_MAX = 60;
/** So often an answered question may still be shown before it is taken for asked again. */
const STALE_MAX = 3;
/** So many times an agent may ask before a call counts as stuck. */
const ROUNDS_MAX = 50;

/** The answer once the task is over; "lost" when the agent does not know it. */
export async function followTask(call: AgentCall, handle: TaskHandle): Promise<ToolAnswer | "lost"> {
  const reply = call.context.input ?? handle.reply;
  try {
    const task = await getTask(call, handle.task);
    if (task === undefined) return "lost";
    const seen = { ...handle, reply: null, misses: 0 };
    if (reply !== null && isAsked(handle, task)) return await replied(call, seen, { task, reply });
    if (standingOf(task) !== "working") return standing(call, seen, task);
    if (isOverdue(call, handle)) return await givenUp(call, handle);
    return await waited(call, seen);
  } catch (error) {
    call.context.signal.throwIfAborted();
    if (!(error instanceof Fault) || error.retry === "never" || handle.misses >= MISSES_MAX) throw error;
    const misses = handle.misses + 1;
    const pauseMs = Math.max(error.afterMs ?? 0, LOOK_AGAIN_MS * misses);
    return again(call, { ...handle, reply, misses }, pauseMs);
  }
}

/** The question a person was asked is still the agent's. */
const isAsked = ({ asked }: TaskHandle, task: Task): boolean =>
  asked !== null && isInterrupted(standingOf(task)) && questionId(task) === asked;

const isInterrupted = (state: Standing): boolean => state === "input" || state === "auth";

/** An answer has the same name whenever it is sent, so that an agent can tell a repetition. */
async function replied(
  call: AgentCall,
  handle: TaskHandle,
  { task, reply }: { readonly task: Task; readonly reply: Json },
): Promise<ToolAnswer> {
  const round = handle.round + 1;
  const told = { ...handle, round, asked: null, answered: handle.asked, stale: 0 };
  // That somebody was authorised elsewhere is no news for the agent.
  if (standingOf(task) === "auth" && reply === true) return again(call, told, 0);
  const sending = {
    messageId: `${call.context.key}/${round}`,
    parts: answerParts(reply),
    task: { id: handle.task, context: task.contextId },
  };
  const arrived = await sendMessage(call, await opened(call), sending);
  if (arrived.kind === "task" && arrived.task !== undefined && isFinal(standingOf(arrived.task)))
    return standing(call, told, arrived.task);
  return again(call, told, 0);
}

const isFinal = (state: Standing): boolean => state !== "working" && !isInterrupted(state);

/** What a task that is not at work means for the call. */
export function standing(call: AgentCall, handle: TaskHandle, task: Task): ToolAnswer {
  const state = standingOf(task);
  if (state === "working") return again(call, handle, 0);
  if (state !== "input" && state !== "auth") return outcomeOf(task, state, call);
  const id = questionId(task);
  if (id === handle.answered && handle.stale < STALE_MAX)
    return again(call, { ...handle, stale: handle.stale + 1 }, LOOK_AGAIN_MS);
  if (handle.round >= ROUNDS_MAX)
    return toolError("input_unsupported", `the agent asked ${ROUNDS_MAX} times`);
  const question = state === "auth" ? authQuestion(task, call.label) : inputQuestion(task, call.label);
  const now = call.around.clock.now();
  const pauseMs = Math.min(Math.max(ASKED_LEAST_MS, (now - handle.since) / 10), ASKED_MOST_MS);
  return {
    ...again(call, { ...handle, asked: id, answered: null }, pauseMs),
    question: redacted(question, call.hide),
  };
}

/** Waits for news where the agent has a stream for them, then looks. */
async function waited(call: AgentCall, handle: TaskHandle): Promise<ToolAnswer | "lost"> {
  const agent = await opened(call);
  if (!agent.streams) return again(call, handle, LOOK_AGAIN_MS);
  await watchTask(call, agent, { id: handle.task, isOver: hasStopped });
  const task = await getTask(call, handle.task);
  if (task === undefined) return "lost";
  return standingOf(task) === "working" ? again(call, handle, LOOK_AGAIN_MS) : standing(call, handle, task);
}

function hasStopped({ payload }: StreamResponse): boolean {
  const known = payload?.$case === "task" || payload?.$case === "statusUpdate" ? payload.value : undefined;
  return known !== undefined && standingOf(known) !== "working";
}

const isOverdue = ({ waitMs, around }: AgentCall, { since }: TaskHandle): boolean =>
  waitMs !== undefined && around.clock.now() - since >= waitMs;

async function givenUp(call: AgentCall, { task }: TaskHandle): Promise<ToolAnswer> {
  await cancelTask(call, task);
  const seconds = (call.waitMs ?? 0) / 1000;
  return toolError("timeout", `agent \`${call.label}\` did not finish within ${seconds} s (\`wait_sec\`)`);
}

export function again({ around }: AgentCall, handle: TaskHandle, pauseMs: number): Later {
  const now = around.clock.now();
  const patience = pauseMs === 0 ? 0 : Math.min(PATIENCE_MS, (now - handle.since) / 10);
  const until = now + Math.ceil(Math.max(pauseMs, patience));
  return { deferred: true, until, handle: toJson(handle), looks: true, stoppable: true };
}
