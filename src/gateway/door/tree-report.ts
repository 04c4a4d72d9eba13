// What came of a pipeline as a whole, for a caller who waited. For an agent the last step's document is only
// its first turn; how its run ended is told apart, as the outcome.

import { isoTime } from "../../base/iso-time.ts";
import { get, type Json, type JsonObject } from "../../base/json.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { Job } from "../queue/job.ts";
import { contextOf, documentOf } from "../queue/jobs.ts";
import type { QueueFile } from "../queue/queue-file.ts";
import { ENDS } from "../router/correlation.ts";
import { isToolOfAgent } from "../router/follow.ts";

export function treeReport(file: QueueFile, tree: readonly Job[], pipeline: Pipeline): JsonObject {
  const [root] = tree;
  const own = tree.filter(({ instanceId }) => instanceId === root?.instanceId);
  const last = own.findLast(({ stepId }) => stepId !== null && pipeline.terminals.includes(stepId));
  const failed = own.find(({ status }) => status !== "succeeded");
  const documents = tree.map((job) => ({ job, document: documentOf(file, job.id) }));
  const ended = tree.reduce((last, job) => Math.max(last, job.completedAt ?? job.createdAt), 0);
  return {
    job_id: root?.id ?? null,
    status: failed?.status ?? "succeeded",
    duration_ms: ended - (root?.createdAt ?? ended),
    result: last === undefined ? null : documentOf(file, last.id),
    outcome: outcomeIn(
      documents
        .filter(({ job }) => !isToolOfAgent({ job, context: contextOf(file, job) }))
        .map(({ document }) => document),
    ),
    tree: documents.map(({ job, document }) => treeRow(job, document)),
  };
}

/** The last word of an agent in the tree. */
function outcomeIn(documents: readonly (JsonObject | null)[]): Json {
  const events = documents.flatMap((document) => {
    const list = get(document ?? {}, "status") === "ok" ? get(document ?? {}, "events") : undefined;
    return Array.isArray(list) ? (list as readonly Json[]) : [];
  });
  const last = events.findLast((event) => ENDS.has(String(get(event, "type"))));
  return last === undefined
    ? null
    : { type: get(last, "type") ?? null, payload: get(last, "payload") ?? null };
}

const treeRow = (job: Job, document: JsonObject | null): JsonObject => ({
  job_id: job.id,
  parent_job_id: job.parentJobId,
  plugin: job.plugin,
  command: job.command,
  pipeline: job.pipeline,
  step_id: job.stepId,
  status: job.status,
  attempt: job.attempt,
  result: document,
  error: job.lastError,
  started_at: job.startedAt === null ? null : isoTime(job.startedAt),
  completed_at: job.completedAt === null ? null : isoTime(job.completedAt),
});
