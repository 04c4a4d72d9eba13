// Jobs in the database: reading them, taking the next one, and what runs them.

import type { JsonObject } from "../../base/json.ts";
import type { Context, Job, JobStatus, Submitter } from "./job.ts";
import { NO_CONTEXT } from "./job.ts";
import { notice } from "./notices.ts";
import type { QueueFile } from "./queue-file.ts";

interface Row {
  readonly seq: number;
  readonly id: string;
  readonly plugin: string;
  readonly command: string;
  readonly payload: string;
  readonly status: string;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly submitted_by: string;
  readonly dedupe_key: string | null;
  readonly pipeline: string | null;
  readonly step_id: string | null;
  readonly instance_id: string | null;
  readonly parent_job_id: string | null;
  readonly root_job_id: string;
  readonly source_event_id: string | null;
  readonly context_id: string | null;
  readonly workspace_id: string;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly completed_at: number | null;
  readonly next_retry_at: number | null;
  readonly deadline_at: number | null;
  readonly pid: number | null;
  readonly pid_started: string | null;
  readonly exit_code: number | null;
  readonly error_code: string | null;
  readonly last_error: string | null;
  readonly result: string | null;
}

function jobOf(row: Row): Job {
  return {
    seq: row.seq,
    id: row.id,
    plugin: row.plugin,
    command: row.command,
    payload: JSON.parse(row.payload) as JsonObject,
    status: row.status as JobStatus,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    submittedBy: row.submitted_by as Submitter,
    dedupeKey: row.dedupe_key,
    pipeline: row.pipeline,
    stepId: row.step_id,
    instanceId: row.instance_id,
    parentJobId: row.parent_job_id,
    rootJobId: row.root_job_id,
    sourceEventId: row.source_event_id,
    contextId: row.context_id,
    workspaceId: row.workspace_id,
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    nextRetryAt: row.next_retry_at,
    deadlineAt: row.deadline_at,
    pid: row.pid,
    pidStarted: row.pid_started,
    exitCode: row.exit_code,
    errorCode: row.error_code,
    lastError: row.last_error,
    result: row.result,
  };
}

export function jobById(file: QueueFile, id: string): Job | undefined {
  const row = file.get<Row>("SELECT * FROM job WHERE id = ?", id);
  return row === undefined ? undefined : jobOf(row);
}

const TREE = `WITH RECURSIVE tree (id) AS (
  SELECT id FROM job WHERE id = ?1 OR root_job_id = ?1
  UNION SELECT job.id FROM job JOIN tree ON job.parent_job_id = tree.id
)`;

/** Itself and everything it led to, in the order of the queue. */
export function jobTree(file: QueueFile, id: string): readonly Job[] {
  return file.all<Row>(`${TREE} SELECT job.* FROM job JOIN tree USING (id) ORDER BY seq`, id).map(jobOf);
}

/** Whether anything of the tree is left to do. Asked after every commit, so it reads as little as it can. */
export function isTreeOpen(file: QueueFile, id: string): boolean {
  const isOpen = "status IN ('queued', 'running')";
  return (
    file.get(`SELECT 1 FROM job WHERE root_job_id = ? AND ${isOpen} LIMIT 1`, id) !== undefined ||
    file.get(`${TREE} SELECT 1 FROM job JOIN tree USING (id) WHERE ${isOpen} LIMIT 1`, id) !== undefined
  );
}

export interface JobFilter {
  readonly status?: JobStatus;
  readonly plugin?: string;
  readonly limit: number;
}

/** The newest first. */
export function listJobs(file: QueueFile, { status, plugin, limit }: JobFilter): readonly Job[] {
  const rows = file.all<Row>(
    `SELECT * FROM job WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR plugin = ?2)
     ORDER BY seq DESC LIMIT ?3`,
    status ?? null,
    plugin ?? null,
    limit,
  );
  return rows.map(jobOf);
}

export function runningJobs(file: QueueFile): readonly Job[] {
  return file.all<Row>("SELECT * FROM job WHERE status = 'running' ORDER BY seq").map(jobOf);
}

export function countJobs(file: QueueFile, status: JobStatus): number {
  return file.get<{ n: number }>("SELECT count(*) AS n FROM job WHERE status = ?", status)?.n ?? 0;
}

/** Of a plugin's command, those that are queued or running. */
export function outstanding(
  file: QueueFile,
  { plugin, command }: { plugin: string; command: string },
): number {
  const row = file.get<{ n: number }>(
    "SELECT count(*) AS n FROM job WHERE plugin = ? AND command = ? AND status IN ('queued', 'running')",
    plugin,
    command,
  );
  return row?.n ?? 0;
}

/** The first in the queue that may run now; it is running when this returns. */
export function claim(file: QueueFile, now: number): Job | undefined {
  // Asked without a transaction first: an idle gateway writes nothing.
  const next = file.get<{ seq: number }>(
    `SELECT seq FROM job WHERE status = 'queued' AND (next_retry_at IS NULL OR next_retry_at <= ?)
     ORDER BY seq LIMIT 1`,
    now,
  );
  if (next === undefined) return undefined;
  return file.transaction(
    () => {
      const row = file.get<Row>(
        `UPDATE job SET status = 'running', started_at = ?, completed_at = NULL, next_retry_at = NULL,
           pid = NULL, pid_started = NULL, exit_code = NULL
         WHERE seq = ? AND status = 'queued' RETURNING *`,
        now,
        next.seq,
      );
      if (row === undefined) return undefined;
      const { id: job_id, plugin, command, attempt, parent_job_id } = row;
      notice(file, now, "job.started", { job_id, plugin, command, attempt, parent_job_id });
      return jobOf(row);
    },
    { durable: false },
  );
}

export interface Spawned {
  readonly pid: number;
  readonly pidStarted: string | null;
  readonly deadlineAt: number;
  readonly at: number;
}

/**
 * Recorded before the process is told anything, so that a later gateway can end what this one started.
 * Whoever waits until it is durable also has the claim, which is before it in the log, on the disk.
 */
export function recordSpawn(file: QueueFile, job: Job, { pid, pidStarted, deadlineAt, at }: Spawned): void {
  file.transaction(
    () => {
      file.run(
        "UPDATE job SET pid = ?, pid_started = ?, deadline_at = ? WHERE seq = ?",
        ...[pid, pidStarted, deadlineAt, job.seq],
      );
      const { id, plugin, command } = job;
      notice(file, at, "plugin.spawned", { job_id: id, plugin, command, pid });
    },
    { durable: true },
  );
}

/** When the next retry is due. */
export function nextRetryAt(file: QueueFile): number | undefined {
  const row = file.get<{ at: number | null }>(
    "SELECT min(next_retry_at) AS at FROM job WHERE status = 'queued'",
  );
  return row?.at ?? undefined;
}

export function contextOf(file: QueueFile, { contextId }: Job): Context {
  if (contextId === null) return NO_CONTEXT;
  const row = file.get<{ body: string; reply_to: string | null }>(
    "SELECT body, reply_to FROM context WHERE id = ?",
    contextId,
  );
  if (row === undefined) return NO_CONTEXT;
  return { id: contextId, body: JSON.parse(row.body) as JsonObject, replyTo: row.reply_to };
}

/** The plugin's blob as it is stored. */
export function stateOf(file: QueueFile, plugin: string): string {
  return file.get<{ blob: string }>("SELECT blob FROM plugin_state WHERE plugin = ?", plugin)?.blob ?? "{}";
}

export interface LogRow {
  readonly job_id: string;
  readonly attempt: number;
  readonly status: string;
  readonly at: number;
  readonly exit_code: number | null;
  readonly error_code: string | null;
  readonly error: string | null;
  readonly document: string | null;
  readonly stderr: string | null;
}

export function attemptsOf(file: QueueFile, id: string): readonly LogRow[] {
  return file.all<LogRow>("SELECT * FROM job_log WHERE job_id = ? ORDER BY attempt", id);
}

/** What a job's last attempt printed. */
export function documentOf(file: QueueFile, id: string): JsonObject | null {
  const row = file.get<{ document: string | null }>(
    "SELECT document FROM job_log WHERE job_id = ? ORDER BY attempt DESC LIMIT 1",
    id,
  );
  const document = row?.document ?? null;
  return document === null ? null : (JSON.parse(document) as JsonObject);
}
