// Whether a tool's result is taken, ignored, or ends the run. The order of the checks is part of the
// contract: a stale duplicate is ignored whatever else is wrong with it (S49, S50).

import type { Correlation } from "./correlation.ts";
import type { RunRecord } from "./run-record.ts";
import type { Blob } from "./state-blob.ts";

export type Verdict =
  | { readonly kind: "taken" }
  | { readonly kind: "ignored"; readonly code: IgnoredCode; readonly level: "info" | "warn" }
  /** This very job has done it already: it says the same again. */
  | { readonly kind: "again"; readonly what: "request" | "final" }
  | { readonly kind: "escalated"; readonly reason: MismatchReason; readonly message: string };

export type IgnoredCode =
  | "unknown-run"
  | "run-ended"
  | "stale-step"
  | "superseded-attempt"
  | "uncorrelated"
  | "duplicate-start";

type MismatchReason = "step_mismatch" | "pending_tool_mismatch" | "correlation_conflict";

interface Arrival {
  readonly found: Correlation;
  readonly conflict: boolean;
  readonly jobId: string;
  readonly ok: boolean;
}

export function judgeResult(blob: Pick<Blob, "runs" | "ended">, arrival: Arrival): Verdict {
  const { found, jobId } = arrival;
  const run = blob.runs.get(found.runId);
  if (run === undefined) {
    const known = blob.ended.has(found.runId);
    return { kind: "ignored", code: known ? "run-ended" : "unknown-run", level: known ? "info" : "warn" };
  }
  if (run.status !== "running")
    return run.ended_by_job === jobId
      ? { kind: "again", what: "final" }
      : { kind: "ignored", code: "run-ended", level: "info" };
  return judgeStep(run, arrival);
}

function judgeStep(run: RunRecord, { found, conflict, jobId, ok }: Arrival): Verdict {
  const { step, tool } = found;
  const { pending_step: pending, pending_tool: wanted } = run;
  if (run.completed_steps.includes(step) || (pending !== null && step < pending))
    return run.pending_by_job === jobId && pending !== null
      ? { kind: "again", what: "request" }
      : { kind: "ignored", code: "stale-step", level: "info" };
  if (conflict)
    return ended("correlation_conflict", `the result of step ${step} and its context name different steps`);
  if (step > (pending ?? run.step))
    return ended("step_mismatch", `a result came for step ${step}, the last one asked for is ${run.step}`);
  if (pending === null) return { kind: "ignored", code: "stale-step", level: "info" };
  if (tool !== wanted)
    return ended(
      "pending_tool_mismatch",
      `step ${step} was asked of \`${wanted}\`, not of \`${tool.slice(0, 80)}\``,
    );
  const attempt = found.attempt ?? run.attempt;
  if (attempt > run.attempt)
    return ended(
      "step_mismatch",
      `a result came for attempt ${attempt}, the last one made is ${run.attempt}`,
    );
  if (!ok && attempt < run.attempt) return { kind: "ignored", code: "superseded-attempt", level: "info" };
  return { kind: "taken" };
}

const ended = (reason: MismatchReason, message: string): Verdict => ({ kind: "escalated", reason, message });
