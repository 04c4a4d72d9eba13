// Waits for the run that a call is about, and says what came of it: its end, what it wants of the user, a
// task for a client that knows tasks, or how far it is.

import { get, isObject, type JsonObject } from "../../base/json.ts";
import type { Summary } from "../../core/summary.ts";
import { hasEnded } from "../is-over.ts";
import type { OpenQuestion } from "../open-questions.ts";
import { restingRun, type StandingRun } from "../resting-run.ts";
import type { SeenRun } from "../seen-run.ts";
import { answerable, askable, inputRequests } from "./answer-forms.ts";
import type { McpCall } from "./mcp-call.ts";
import { tellProgress } from "./progress.ts";
import { sealState, taskIdOf } from "./seal.ts";

/** A call that takes longer becomes a task where the client knows tasks. */
const TASK_AFTER_MS = 2_000;
/** And is answered with how far the run is where it does not. */
const WAIT_MS = 30_000;
/** How often a client may look at a task. */
const POLL_MS = 1_000;

export interface FollowTerms {
  readonly run: string;
  /** False when the user has just declined to answer: nobody is asked the same thing at once again. */
  readonly asks: boolean;
}

export async function followRun(call: McpCall, { run, asks: mayAsk }: FollowTerms): Promise<JsonObject> {
  const { client } = call;
  const standing = await waitedFor(call, run, client.tasks ? TASK_AFTER_MS : WAIT_MS);
  if (hasEnded(standing.record)) return runResult(standing);
  if (standing.questions.length === 0) return client.tasks ? newTask(call, standing) : runResult(standing);
  const asked = mayAsk ? askable(client, await answerable(call, standing)) : [];
  return asked.length === 0 ? runResult(standing) : inputRequired(call, standing, asked);
}

/** Until it ends or wants something, or the time is over. */
export async function waitedFor(call: McpCall, run: string, limitMs: number): Promise<StandingRun> {
  const { parts, signal } = call;
  const over = new AbortController();
  const end = AbortSignal.any([signal, over.signal]);
  void parts.clock.sleep(limitMs, end).then(() => over.abort());
  const telling = tellProgress(call, run, end);
  try {
    return await restingRun(parts, run, end);
  } finally {
    over.abort();
    await telling;
  }
}

/** How the run stands, as the result of a call. One that ended otherwise than it should is an error. */
export function runResult({ record, summary }: SeenRun): JsonObject {
  const failed = hasEnded(record) && summary.status !== "completed";
  const text = isAgent(record.setup) && summary.status === "completed" ? summary.output?.text : undefined;
  return {
    content: [{ type: "text", text: text ?? JSON.stringify(summary) }],
    structuredContent: summary as unknown as JsonObject,
    _meta: runMeta(summary),
    ...(failed && { isError: true }),
  };
}

/** Which run it is, and where it comes from. */
function runMeta({ run, forked_from: origin, parent }: Summary): JsonObject {
  return {
    "packloop/run": run,
    ...(origin !== null && { "packloop/forked_from": { ...origin } }),
    ...(parent !== null && { "packloop/parent": { ...parent } }),
  };
}

/** Whoever called an agent wants to hear what it says. */
const isAgent = (setup: JsonObject): boolean => isObject(get(setup, "mcp"));

function inputRequired(
  { parts, principal, of, client }: McpCall,
  { summary }: SeenRun,
  asked: readonly OpenQuestion[],
): JsonObject {
  const state = { of, run: summary.run, asks: asked.map(({ id }) => id) };
  return {
    resultType: "input_required",
    inputRequests: inputRequests(client, asked),
    requestState: sealState({ side: parts.side, principal, now: parts.clock.now() }, state),
  };
}

const newTask = ({ parts, principal }: McpCall, seen: SeenRun): JsonObject => ({
  resultType: "task",
  status: "working",
  ...taskFrame(taskIdOf({ side: parts.side, principal }, seen.summary.run), seen),
});

/** A run is kept until somebody removes it, so its task has no end of its own. */
export const taskFrame = (taskId: string, { summary }: SeenRun): JsonObject => ({
  ...{ _meta: runMeta(summary), taskId },
  createdAt: summary.started_at,
  lastUpdatedAt: summary.updated_at,
  ttlMs: null,
  pollIntervalMs: POLL_MS,
});
