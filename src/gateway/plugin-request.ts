// The request a plugin gets for a job.

import { isoTime } from "../base/iso-time.ts";
import { get, isObject, type Json, type JsonObject, put } from "../base/json.ts";
import type { PluginRequest } from "../process/plugin-protocol.ts";
import type { PipelineNode } from "./pipeline/pipeline.ts";
import type { Context, Job } from "./queue/job.ts";
import { type ContextMode, filled } from "./router/hop.ts";
import type { JobFailure } from "./router/outcome.ts";

export interface RequestParts {
  readonly config: JsonObject;
  /** The stored text. */
  readonly state: string;
  readonly context: Context;
  readonly workspace: string;
  readonly deadlineAt: number;
  readonly mode: ContextMode;
  /** The step the job is at. */
  readonly node: PipelineNode | undefined;
}

export function pluginRequest(job: Job, parts: RequestParts): PluginRequest | JobFailure {
  const { config, context, workspace, deadlineAt } = parts;
  const event = job.command === "handle" ? eventFor(job, parts) : undefined;
  if (event !== undefined && "missing" in event) {
    const message = `\`with\` of step \`${job.stepId}\` needs \`${event.missing}\`, and it is not there`;
    return { kind: "failed", code: "baggage-missing", message, retry: false };
  }
  return {
    protocol: 2,
    job_id: job.id,
    command: job.command,
    config,
    state: JSON.parse(parts.state) as JsonObject,
    ...(Object.keys(context.body).length > 0 && { context: context.body }),
    workspace_dir: workspace,
    payload: job.payload,
    ...(event !== undefined && { event: event.event }),
    deadline_at: isoTime(deadlineAt),
  };
}

/** The queued event; what the context and the step's `with` add is not in the request's `payload`. */
function eventFor(
  job: Job,
  { context, mode, node }: RequestParts,
): { readonly event: JsonObject } | { readonly missing: string } {
  const queued = get(job.payload, "payload");
  const own = isObject(queued) ? queued : {};
  const payload: Record<string, Json> = {};
  for (const [key, value] of Object.entries(own)) put(payload, key, value);
  if (mode === "accumulate")
    for (const [key, value] of Object.entries(context.body))
      if (!Object.hasOwn(payload, key)) put(payload, key, value);
  for (const [key, template] of node?.with ?? []) {
    const made = filled(template, { context: context.body, payload: own });
    if ("missing" in made) return made;
    put(payload, key, made.value);
  }
  return { event: { ...job.payload, payload } };
}
