// A job: one invocation of one command of one plugin, queued until it has an end.

import { isoTime } from "../../base/iso-time.ts";
import type { JsonObject } from "../../base/json.ts";

export type JobStatus = "queued" | "running" | "succeeded" | "failed" | "timed_out" | "dead";

export type Submitter = "api" | "cli" | "route" | "schedule" | "gateway";

export interface Job {
  readonly seq: number;
  readonly id: string;
  readonly plugin: string;
  readonly command: string;
  /** For `handle` the event as it was queued. */
  readonly payload: JsonObject;
  readonly status: JobStatus;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly submittedBy: Submitter;
  readonly dedupeKey: string | null;
  readonly pipeline: string | null;
  readonly stepId: string | null;
  readonly instanceId: string | null;
  readonly parentJobId: string | null;
  /** The first job of its tree. */
  readonly rootJobId: string;
  readonly sourceEventId: string | null;
  readonly contextId: string | null;
  readonly workspaceId: string;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
  readonly nextRetryAt: number | null;
  readonly deadlineAt: number | null;
  readonly pid: number | null;
  readonly pidStarted: string | null;
  readonly exitCode: number | null;
  readonly errorCode: string | null;
  readonly lastError: string | null;
  readonly result: string | null;
}

/** Immutable; shared by jobs. */
export interface Context {
  /** Null when it is not stored yet. */
  readonly id: string | null;
  readonly body: JsonObject;
  /** Who asked for the tool: error results go there. Plugins never see it. */
  readonly replyTo: string | null;
}

export const NO_CONTEXT: Context = { id: null, body: {}, replyTo: null };

export interface NewJob {
  readonly plugin: string;
  readonly command: string;
  readonly payload: JsonObject;
  readonly submittedBy: Submitter;
  readonly dedupeKey: string | null;
  readonly pipeline: string | null;
  readonly stepId: string | null;
  readonly instanceId: string | null;
  readonly sourceEventId: string | null;
  readonly context: Context;
  readonly maxAttempts: number;
}

/** As it is shown at the door and on the command line. */
export function jobRecord(job: Job): JsonObject {
  const time = (ms: number | null) => (ms === null ? null : isoTime(ms));
  return {
    seq: job.seq,
    id: job.id,
    job_id: job.id,
    plugin: job.plugin,
    command: job.command,
    payload: job.payload,
    status: job.status,
    attempt: job.attempt,
    max_attempts: job.maxAttempts,
    submitted_by: job.submittedBy,
    dedupe_key: job.dedupeKey,
    pipeline: job.pipeline,
    step_id: job.stepId,
    instance_id: job.instanceId,
    parent_job_id: job.parentJobId,
    source_event_id: job.sourceEventId,
    context_id: job.contextId,
    workspace_id: job.workspaceId,
    created_at: isoTime(job.createdAt),
    started_at: time(job.startedAt),
    completed_at: time(job.completedAt),
    next_retry_at: time(job.nextRetryAt),
    deadline_at: time(job.deadlineAt),
    pid: job.pid,
    exit_code: job.exitCode,
    error_code: job.errorCode,
    last_error: job.lastError,
    result: job.result,
  };
}
