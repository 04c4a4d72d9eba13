// Puts a job into the queue, unless it is there already: one child for each event of a parent and each
// target, and one job for a key while the first one lives or its success is recent.

import { get } from "../../base/json.ts";
import type { Context, Job, NewJob } from "./job.ts";
import { notice } from "./notices.ts";
import type { QueueFile } from "./queue-file.ts";

export interface Enqueued {
  readonly id: string;
  /** There was one already; `id` names it. */
  readonly isDuplicate: boolean;
}

export interface EnqueueTerms {
  readonly now: number;
  readonly dedupeTtlMs: number;
  readonly parent: Job | null;
  /** The first job of the tree, when it is not a child and not the first itself. */
  readonly root?: string;
  /** Contexts that were stored in this transaction. */
  readonly stored: Map<Context, string | null>;
}

/** Inside a transaction. */
export function enqueue(file: QueueFile, job: NewJob, terms: EnqueueTerms): Enqueued {
  const existing = sameEvent(file, job, terms) ?? sameKey(file, job, terms);
  if (existing !== undefined) {
    const { plugin, command, dedupeKey } = job;
    const data = { job_id: existing, plugin, command, dedupe_key: dedupeKey };
    notice(file, terms.now, "job.deduped", { ...data, parent_job_id: terms.parent?.id ?? null });
    return { id: existing, isDuplicate: true };
  }
  return { id: insert(file, job, terms), isDuplicate: false };
}

function sameEvent(file: QueueFile, job: NewJob, { parent }: EnqueueTerms): string | undefined {
  if (parent === null || job.sourceEventId === null) return undefined;
  return file.get<{ id: string }>(
    `SELECT id FROM job WHERE parent_job_id = ? AND source_event_id = ? AND ifnull(pipeline, '') = ?
       AND ifnull(step_id, '') = ? AND plugin = ? AND command = ?`,
    ...[parent.id, job.sourceEventId, job.pipeline ?? "", job.stepId ?? "", job.plugin, job.command],
  )?.id;
}

function sameKey(file: QueueFile, job: NewJob, { now, dedupeTtlMs }: EnqueueTerms): string | undefined {
  if (job.dedupeKey === null) return undefined;
  return file.get<{ id: string }>(
    `SELECT id FROM job WHERE dedupe_key = ? AND plugin = ? AND command = ? AND pipeline IS ? AND step_id IS ?
       AND (status IN ('queued', 'running') OR (status = 'succeeded' AND completed_at > ?))
     ORDER BY seq DESC LIMIT 1`,
    ...[job.dedupeKey, job.plugin, job.command, job.pipeline, job.stepId, now - dedupeTtlMs],
  )?.id;
}

function insert(file: QueueFile, job: NewJob, terms: EnqueueTerms): string {
  const { now, parent } = terms;
  const id = file.newId();
  const workspace = workspaceOf(file, job.context) ?? parent?.workspaceId ?? terms.root ?? id;
  file.run(
    `INSERT INTO job (id, plugin, command, payload, status, attempt, max_attempts, submitted_by, dedupe_key,
       pipeline, step_id, instance_id, parent_job_id, root_job_id, source_event_id, context_id, workspace_id,
       created_at)
     VALUES (?, ?, ?, ?, 'queued', 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id, job.plugin, job.command, JSON.stringify(job.payload), job.maxAttempts, job.submittedBy],
    ...[job.dedupeKey, job.pipeline, job.stepId, job.instanceId, parent?.id ?? null],
    ...[
      parent?.rootJobId ?? terms.root ?? id,
      job.sourceEventId,
      storedContext(file, job.context, terms.stored),
    ],
    ...[workspace, now],
  );
  file.run(
    "INSERT INTO workspace VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at",
    workspace,
    now,
  );
  const place = { pipeline: job.pipeline, step_id: job.stepId, parent_job_id: parent?.id ?? null };
  const data = { job_id: id, plugin: job.plugin, command: job.command, ...place };
  if (job.submittedBy === "route") notice(file, now, "router.enqueued", data);
  else notice(file, now, "job.enqueued", { ...data, submitted_by: job.submittedBy });
  return id;
}

/** The folder that an agent's request names, when it is the folder of a job that is known. */
function workspaceOf(file: QueueFile, { body, replyTo }: Context): string | undefined {
  const ref = replyTo === null ? undefined : get(get(body, "agentic"), "workspace_ref");
  if (typeof ref !== "string" || !ref.startsWith("job:")) return undefined;
  const id = ref.slice("job:".length);
  return (
    file.get<{ id: string }>("SELECT workspace_id AS id FROM job WHERE id = ?", id)?.id ??
    file.get<{ id: string }>("SELECT id FROM workspace WHERE id = ?", id)?.id
  );
}

function storedContext(
  file: QueueFile,
  context: Context,
  stored: Map<Context, string | null>,
): string | null {
  if (context.id !== null) return context.id;
  const known = stored.get(context);
  if (known !== undefined) return known;
  const isEmpty = Object.keys(context.body).length === 0 && context.replyTo === null;
  const id = isEmpty ? null : file.newId();
  if (id !== null)
    file.run("INSERT INTO context VALUES (?, ?, ?)", id, JSON.stringify(context.body), context.replyTo);
  stored.set(context, id);
  return id;
}
