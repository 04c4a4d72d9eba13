// A result for a run: taken, ignored, or the run's end. An error with attempts left is no answer: the same
// step is asked for again, and no model is called.

import { isoTime } from "../base/iso-time.ts";
import type { JsonObject } from "../base/json.ts";
import type { Outcome } from "../core/facts.ts";
import type { Correlated } from "../goal/correlation.ts";
import { answeredTool } from "../goal/goal-run.ts";
import { judgeResult } from "../goal/judge-result.ts";
import type { TurnEnd } from "../goal/response.ts";
import { type RunRecord, settled } from "../goal/run-record.ts";
import { blankedKeys } from "../goal/tool-request.ts";
import { readToolResult, type ToolFailure, type ToolResult } from "../goal/tool-result.ts";
import type { LoopTurn } from "./loop-turn.ts";
import { type ModelTurn, performModelTurn } from "./model-turn.ts";
import { deferredResult, keepResult } from "./step-result.ts";

export async function resumeRun(turn: LoopTurn, event: JsonObject, correlated: Correlated): Promise<TurnEnd> {
  const { found } = correlated;
  const { runId, step } = found;
  const { jobId, payload } = turn.request;
  const run = turn.blob.runs.get(runId);
  const result = run && readToolResult({ event, raw: payload, now: turn.at }, { runId, run, found });
  const verdict = judgeResult(turn.blob, { ...correlated, jobId, ok: result?.ok ?? true });
  if (run === undefined || result === undefined || verdict.kind === "ignored") {
    const { code, level } =
      verdict.kind === "ignored" ? verdict : ({ code: "unknown-run", level: "warn" } as const);
    const at = RUN_SHOWN.test(runId) ? runId : "with another kind of name";
    if (run !== undefined) turn.trace(runId, run, [{ fact: "ignored", rest: { code, step } }]);
    return turn.ignored(code, level, `run ${at}, step ${step}`);
  }
  if (verdict.kind === "again") {
    if (verdict.what === "final") turn.emitFinal(runId);
    else turn.emitRequest(runId);
    return turn.said(`run ${runId}: said again what this job said before`);
  }
  if (verdict.kind === "escalated") {
    turn.trace(runId, run, [{ fact: "refused", rest: { code: verdict.reason, step } }]);
    turn.escalate(runId, turn.goalOf(run), { ...verdict, details: { step } });
    return turn.said(`run ${runId} escalated (${verdict.reason})`);
  }
  const attempt = found.attempt ?? run.attempt;
  if (result.ok)
    return turn.said(await performModelTurn(turn, answered(turn, { runId, run, result, attempt })));
  const next = failedStep(turn, { runId, run, error: result.error });
  return turn.said(typeof next === "string" ? next : await performModelTurn(turn, next));
}

const RUN_SHOWN = /^[A-Za-z0-9_-]{1,64}$/;

interface Failed {
  readonly runId: string;
  readonly run: RunRecord;
  readonly error: ToolFailure;
}

/** What a failed step leads to: a line about it, or a turn of the model. */
export function failedStep(turn: LoopTurn, { runId, run, error }: Failed): string | ModelTurn {
  const { onToolError } = turn.config;
  const { attempt } = run;
  if (error.retryable && attempt < run.max_attempts) return requestAgain(turn, { runId, run, error });
  const details = { code: error.code, attempts: attempt };
  if (onToolError === "escalate") {
    const message = `\`${run.pending_tool}\` failed at step ${run.pending_step}: ${error.message}`;
    turn.escalate(runId, turn.goalOf(run), { reason: "tool_error", message, details });
    return `run ${runId} escalated (tool_error)`;
  }
  if (run.reframes >= run.max_reframes) {
    const message = `a tool failed, and the goal may not be framed anew more than ${run.max_reframes} times`;
    turn.escalate(runId, turn.goalOf(run), { reason: "max_reframes_exceeded", message, details });
    return `run ${runId} escalated (max_reframes_exceeded)`;
  }
  const reframed = { ...run, reframes: run.reframes + 1 };
  const result: ToolResult = { ok: false, error, completedAt: turn.at };
  return answered(turn, { runId, run: reframed, result, attempt });
}

function requestAgain(turn: LoopTurn, { runId, run, error }: Failed): string {
  const tool = run.pending_tool ?? "";
  const attempt = run.attempt + 1;
  const input = run.pending_input ?? {};
  const blanked = new Set([...run.pending_blanked, ...blankedKeys(turn.request.context, input)]);
  const again = turn.put(runId, {
    ...run,
    attempt,
    pending_since: turn.at,
    pending_deadline: isoTime(turn.now + turn.config.toolDeadlineMs(tool)),
    pending_blanked: [...blanked].sort(),
    pending_by_job: turn.request.jobId,
  });
  const rest = { step: run.pending_step, attempt, code: error.code };
  turn.trace(runId, again, [{ fact: "retried", rest }]);
  turn.emitRequest(runId);
  return `run ${runId} step ${run.pending_step}: ${tool} requested again (attempt ${attempt})`;
}

/** The step is over; the model has not heard of it yet. */
function answered(
  turn: LoopTurn,
  given: { runId: string; run: RunRecord; result: ToolResult; attempt: number },
): ModelTurn {
  const { runId, run, result, attempt } = given;
  const step = run.pending_step ?? run.step;
  const tool = run.pending_tool ?? "";
  const workspace = turn.workspaceOf(runId);
  const charsMax = turn.config.toolOutputCharsMax;
  const kept = keepResult(result, { at: { step, attempt, tool }, workspace, charsMax });
  const outcome: Outcome = result.ok
    ? { ok: true, value: result.value }
    : { ok: false, code: result.error.code, message: result.error.message };
  const goal = answeredTool(turn.goalOf(run), outcome, turn.now);
  const over: RunRecord = {
    ...run,
    ...settled,
    expect: run.expect,
    phase: "reflect",
    completed_steps: [...run.completed_steps, step].sort((a, b) => a - b),
    failed_steps: result.ok ? run.failed_steps : [...run.failed_steps, step],
    artifacts: [...new Set([...run.artifacts, ...kept.artifacts])].slice(-ARTIFACTS_MAX),
  };
  turn.put(runId, over);
  return { runId, run: over, goal, result: kept.shown, deferred: deferredResult(kept) };
}

const ARTIFACTS_MAX = 200;
