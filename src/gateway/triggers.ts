// Jobs that are asked for from outside: a pipeline's event, or one command of a plugin.

import { isoTime } from "../base/iso-time.ts";
import type { JsonObject } from "../base/json.ts";
import type { Pipeline } from "./pipeline/pipeline.ts";
import { type Enqueued, enqueue } from "./queue/enqueue.ts";
import { type Context, type NewJob, NO_CONTEXT, type Submitter } from "./queue/job.ts";
import type { QueueFile } from "./queue/queue-file.ts";
import type { Catalog } from "./router/follow.ts";
import { type HopFailure, hop } from "./router/hop.ts";

export interface Trigger {
  readonly payload: JsonObject;
  readonly dedupeKey: string | null;
  readonly submittedBy: Submitter;
}

export interface TriggerTerms {
  readonly file: QueueFile;
  readonly catalog: Catalog;
  readonly now: number;
  readonly dedupeTtlMs: number;
}

/** An event as it comes in from outside: it has neither an id nor a source. */
function outsideEvent(type: string, { payload, dedupeKey }: Trigger, now: number): JsonObject {
  return {
    ...{ type, payload },
    ...(dedupeKey !== null && { dedupe_key: dedupeKey }),
    timestamp: isoTime(now),
  };
}

/** Queues the entry steps of a pipeline as one tree; the first of them names it. */
export function triggerPipeline(
  pipeline: Pipeline,
  trigger: Trigger,
  terms: TriggerTerms,
): Enqueued | HopFailure {
  const { file, catalog, now } = terms;
  const event = outsideEvent(pipeline.on, trigger, now);
  const instanceId = file.newId();
  const jobs: NewJob[] = [];
  for (const id of pipeline.entries) {
    const node = pipeline.nodes.get(id);
    if (node === undefined) continue;
    // What came from outside is no context, but a step may claim parts of it.
    const claims = hop(NO_CONTEXT, { node, payload: trigger.payload, mode: "isolated" });
    if ("code" in claims) return claims;
    jobs.push({
      ...{ plugin: node.plugin, command: "handle", payload: event, submittedBy: trigger.submittedBy },
      ...{ dedupeKey: trigger.dedupeKey, pipeline: pipeline.name, stepId: id, instanceId },
      ...{ sourceEventId: null, context: claims },
      maxAttempts: catalog.attemptsMax(node.plugin, "handle"),
    });
  }
  return enqueueAll(jobs, terms);
}

export function triggerCommand(
  { plugin, command }: { plugin: string; command: string },
  trigger: Trigger,
  terms: TriggerTerms,
): Enqueued {
  const isHandle = command === "handle";
  const job: NewJob = {
    ...{ plugin, command, submittedBy: trigger.submittedBy, dedupeKey: trigger.dedupeKey },
    payload: isHandle ? outsideEvent("api.trigger", trigger, terms.now) : trigger.payload,
    ...{ pipeline: null, stepId: null, instanceId: null, sourceEventId: null, context: NO_CONTEXT },
    maxAttempts: terms.catalog.attemptsMax(plugin, command),
  };
  return enqueueAll([job], terms);
}

function enqueueAll(jobs: readonly NewJob[], { file, now, dedupeTtlMs }: TriggerTerms): Enqueued {
  return file.transaction(
    () => {
      const stored = new Map<Context, string | null>();
      let first: Enqueued | undefined;
      for (const job of jobs) {
        const root = first === undefined ? {} : { root: first.id };
        const queued = enqueue(file, job, { now, dedupeTtlMs, parent: null, stored, ...root });
        first ??= queued;
      }
      return first ?? { id: "", isDuplicate: false };
    },
    { durable: true },
  );
}
