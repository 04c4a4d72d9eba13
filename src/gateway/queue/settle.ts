// Commits what became of a job: the plugin's state, the jobs that follow, and the job's own end, together or
// not at all. A gateway that dies before this has done nothing but run a process.

import type { Outcome } from "../router/outcome.ts";
import { enqueue } from "./enqueue.ts";
import type { Context, Job } from "./job.ts";
import { notice } from "./notices.ts";
import type { QueueFile } from "./queue-file.ts";

/** What the process left behind. */
export interface Trace {
  readonly exitCode: number | null;
  /** What it printed, when that was a document. */
  readonly document: string | null;
  readonly stderr: string;
}

export interface SettleTerms {
  readonly now: number;
  readonly dedupeTtlMs: number;
}

/** False when the job was taken up by somebody else meanwhile: nothing is changed then. */
export function settle(
  file: QueueFile,
  job: Job,
  { outcome, trace, terms }: { outcome: Outcome; trace: Trace; terms: SettleTerms },
): boolean {
  return file.transaction(
    () => {
      if (!closeJob(file, job, outcome, { trace, now: terms.now })) return false;
      if (outcome.kind === "again") return true;
      if (outcome.kind === "succeeded") {
        if (outcome.state !== undefined) putState(file, job.plugin, outcome.state, terms.now);
        for (const { event, target, reason } of outcome.dropped)
          notice(file, terms.now, "router.dropped", { job_id: job.id, event, target, reason });
      }
      const stored = new Map<Context, string | null>();
      for (const next of outcome.jobs) enqueue(file, next, { ...terms, parent: job, stored });
      return true;
    },
    { durable: true },
  );
}

function putState(file: QueueFile, plugin: string, blob: string, now: number): void {
  file.run(
    `INSERT INTO plugin_state VALUES (?, ?, ?)
     ON CONFLICT (plugin) DO UPDATE SET blob = excluded.blob, updated_at = excluded.updated_at`,
    plugin,
    blob,
    now,
  );
}

function closeJob(
  file: QueueFile,
  job: Job,
  outcome: Outcome,
  { trace, now }: { trace: Trace; now: number },
): boolean {
  const isAgain = outcome.kind === "again";
  const status = isAgain ? "queued" : outcome.kind === "succeeded" ? "succeeded" : outcome.status;
  const error = outcome.kind === "succeeded" ? null : outcome;
  const changed = file.run(
    `UPDATE job SET status = ?, attempt = ?, completed_at = ?, next_retry_at = ?, exit_code = ?, error_code = ?,
       last_error = ?, result = ?, pid = NULL, pid_started = NULL
     WHERE seq = ? AND status = 'running' AND attempt = ?`,
    ...[status, isAgain ? job.attempt + 1 : job.attempt, isAgain ? null : now],
    ...[isAgain ? outcome.at : null, trace.exitCode, error?.code ?? null, error?.message ?? null],
    ...[outcome.kind === "succeeded" ? outcome.result : null, job.seq, job.attempt],
  );
  if (changed === 0) return false;
  file.run(
    `INSERT OR REPLACE INTO job_log (job_id, attempt, status, at, exit_code, error_code, error, document, stderr)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[job.id, job.attempt, isAgain ? "retried" : status, now, trace.exitCode, error?.code ?? null],
    ...[error?.message ?? null, trace.document, trace.stderr === "" ? null : trace.stderr],
  );
  announce(file, job, outcome, now);
  return true;
}

function announce(file: QueueFile, job: Job, outcome: Outcome, now: number): void {
  const about = { job_id: job.id, plugin: job.plugin, command: job.command, attempt: job.attempt };
  const duration = { duration_ms: now - (job.startedAt ?? now) };
  switch (outcome.kind) {
    case "succeeded":
      return notice(file, now, "job.completed", { ...about, ...duration, status: "succeeded" });
    case "again": {
      const next = { next_retry_at: outcome.at, error_code: outcome.code, error: outcome.message };
      return notice(file, now, "job.retry_scheduled", { ...about, ...next });
    }
    case "ended": {
      const error = { error_code: outcome.code, error: outcome.message, status: outcome.status };
      return notice(file, now, `job.${outcome.status}`, { ...about, ...duration, ...error });
    }
  }
}
