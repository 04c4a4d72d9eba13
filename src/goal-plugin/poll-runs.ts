// `poll`: looks for steps that nobody answered in time, and takes up one turn that the model was missing from.
// On hosts that lose the results of failed tools it is the only way a run hears of them.

import type { TurnEnd } from "../goal/response.ts";
import type { RunRecord } from "../goal/run-record.ts";
import type { LoopTurn } from "./loop-turn.ts";
import { performModelTurn } from "./model-turn.ts";
import { failedStep } from "./resume-run.ts";
import { recalled } from "./step-result.ts";

/** Requests weigh up to 96 KiB; what is left is swept by the next poll. */
const SWEPT_MAX = 5;

export async function pollRuns(turn: LoopTurn): Promise<TurnEnd> {
  turn.blob.lastPollAt = turn.at;
  turn.touch();
  const mine = [...turn.blob.runs].filter(([, run]) => isMine(turn, run));
  if (mine.length > 0) {
    // This job was here before: it says the same, and nothing else.
    for (const [runId, run] of mine) {
      if (run.status === "running") turn.emitRequest(runId);
      else turn.emitFinal(runId);
    }
    return turn.said(`said again what this job said about ${mine.length} runs`);
  }
  const overdue = [...turn.blob.runs].filter(([, run]) => isOverdue(turn, run)).slice(0, SWEPT_MAX);
  for (const [runId, run] of overdue) sweep(turn, runId, run);
  const due = dueForModel(turn);
  if (due === undefined) return turn.said(`${overdue.length} overdue steps`);
  const [runId, run] = due;
  const workspace = turn.workspaceOf(runId);
  const charsMax = turn.config.toolOutputCharsMax;
  const result = run.phase === "frame" ? undefined : (recalled(run, { workspace, charsMax }) ?? unknown(run));
  const said = await performModelTurn(turn, {
    runId,
    run,
    goal: turn.goalOf(run),
    result,
    deferred: run.deferred_result,
  });
  return turn.said(said);
}

const isMine = ({ request }: LoopTurn, run: RunRecord): boolean =>
  run.status === "running"
    ? run.pending_step !== null && run.pending_by_job === request.jobId
    : run.ended_by_job === request.jobId;

const isOverdue = (
  { now }: LoopTurn,
  { status, pending_step: step, pending_deadline: deadline }: RunRecord,
): boolean => status === "running" && step !== null && deadline !== null && isPast(deadline, now);

/** A time that cannot be read is past: better to ask again than never. */
const isPast = (time: string, now: number): boolean => !(Date.parse(time) > now);

function sweep(turn: LoopTurn, runId: string, run: RunRecord): void {
  const error = { code: "tool_timeout", message: "no result came in time", retryable: true };
  const next = failedStep(turn, { runId, run, error });
  if (typeof next === "string") return;
  // The model hears of it in its own turn; a poll has one.
  turn.put(runId, { ...next.run, deferred_result: next.deferred, retry_after: turn.at });
}

function dueForModel(turn: LoopTurn): [string, RunRecord] | undefined {
  const due = [...turn.blob.runs].filter(
    ([, run]) =>
      run.status === "running" &&
      run.pending_step === null &&
      isPast(run.retry_after ?? run.updated_at, turn.now),
  );
  const since = ([, run]: [string, RunRecord]) => run.retry_after ?? run.updated_at;
  return due.sort((a, b) => (since(a) < since(b) ? -1 : 1))[0];
}

/** A run of another version that kept nothing of its result. */
const unknown = (run: RunRecord) =>
  ({ step: run.step, tool: "", status: "error", text: "the result of this step was lost" }) as const;
