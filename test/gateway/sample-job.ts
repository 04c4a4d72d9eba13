// Jobs and catalogs for the rules of the router, without a queue.

import { parse } from "yaml";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { compilePipelines } from "../../src/gateway/pipeline/compile-pipelines.ts";
import { type Context, type Job, NO_CONTEXT } from "../../src/gateway/queue/job.ts";
import type { Catalog, Ended } from "../../src/gateway/router/follow.ts";

export function sampleJob(change: Partial<Job> = {}): Job {
  return {
    ...{ seq: 1, id: "job-1", plugin: "it", command: "handle", payload: {}, status: "running", attempt: 1 },
    ...{ maxAttempts: 4, submittedBy: "route", dedupeKey: null, pipeline: null, stepId: null },
    ...{
      instanceId: "instance",
      parentJobId: null,
      rootJobId: "job-1",
      sourceEventId: null,
      contextId: null,
    },
    ...{ workspaceId: "job-1", createdAt: 0, startedAt: 0, completedAt: null, nextRetryAt: null },
    ...{ deadlineAt: null, pid: null, pidStarted: null, exitCode: null, errorCode: null, lastError: null },
    ...{ result: null, ...change },
  };
}

export function sampleCatalog(pipelines: string, change: Partial<Catalog> = {}): Catalog {
  const compiled = compilePipelines(parse(pipelines) as Json[], (problem) => {
    throw new Error(problem);
  });
  const agents = new Set(["agentic-loop"]);
  return {
    ...{ pipelines: compiled, mode: "isolated", hasNoSelfTrigger: (name) => agents.has(name) },
    ...{ attemptsMax: () => 4, ...change },
  };
}

export function ended(job: Partial<Job> = {}, context: Context = NO_CONTEXT): Ended {
  let made = 0;
  return { job: sampleJob(job), context, now: 0, newId: () => `new-${++made}` };
}

export const agentContext = (agentic: JsonObject, body: JsonObject = {}): Context => ({
  ...{ id: "c", replyTo: "agentic-loop" },
  body: { ...body, agentic },
});
