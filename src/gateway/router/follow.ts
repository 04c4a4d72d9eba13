// What follows a job that succeeded: for every event the next steps of its pipeline, whatever the event's
// type, and the pipelines that begin with that type. Pure: the queue decides what is a duplicate.

import { isoTime } from "../../base/iso-time.ts";
import { get, isObject } from "../../base/json.ts";
import type { PluginEvent, PluginSuccess } from "../../process/plugin-protocol.ts";
import { nextOf, type Pipeline, type PipelineNode } from "../pipeline/pipeline.ts";
import type { Context, Job, NewJob } from "../queue/job.ts";
import { ENDS, errorResult, REQUEST, requestCorrelation, START, type ToolError } from "./correlation.ts";
import { type ContextMode, type HopFailure, hop } from "./hop.ts";

export interface Catalog {
  /** Sorted by name. */
  readonly pipelines: ReadonlyMap<string, Pipeline>;
  readonly mode: ContextMode;
  readonly hasNoSelfTrigger: (plugin: string) => boolean;
  readonly attemptsMax: (plugin: string, command: string) => number;
}

export interface Ended {
  readonly job: Job;
  readonly context: Context;
  readonly now: number;
  readonly newId: () => string;
}

/** A dispatch that was not made. */
export interface Drop {
  readonly event: string;
  readonly target: string | null;
  readonly reason: "self-trigger" | "start-inside-agent" | "request-inside-agent" | "end-inside-agent";
}

export interface Following {
  readonly jobs: readonly NewJob[];
  readonly dropped: readonly Drop[];
}

export function whatFollows(
  ended: Ended,
  success: Pick<PluginSuccess, "events" | "result">,
  catalog: Catalog,
): Following | HopFailure {
  const jobs: NewJob[] = [];
  const dropped: Drop[] = [];
  let routed = 0;
  for (const [index, event] of success.events.entries()) {
    const refused = refusal(event, ended);
    if (refused !== undefined) {
      dropped.push({ event: event.type, target: null, reason: refused });
      continue;
    }
    routed += 1;
    const one = followEvent(ended, { event, id: event.event_id || `${ended.job.id}.${index}` }, catalog);
    if ("code" in one) return one;
    jobs.push(...one.jobs);
    dropped.push(...one.dropped);
  }
  if (routed > 0) return { jobs, dropped };
  const silent = followSilence(ended, success.result, catalog);
  if ("code" in silent) return silent;
  return { jobs: silent.jobs, dropped };
}

/** An agent may not start agents, not even through a tool, and a tool may not ask for tools in its name. */
function refusal({ type }: PluginEvent, ended: Ended): Drop["reason"] | undefined {
  if (!isObject(get(ended.context.body, "agentic"))) return undefined;
  if (type === START) return "start-inside-agent";
  return type.startsWith(REQUEST) && isToolOfAgent(ended) ? "request-inside-agent" : undefined;
}

/** Somebody else's step: what it says is never the agent's own word. */
export const isToolOfAgent = ({ job, context }: Pick<Ended, "job" | "context">): boolean =>
  context.replyTo !== null && context.replyTo !== job.plugin;

interface Target {
  readonly pipeline: Pipeline;
  readonly node: PipelineNode;
  readonly isEntry: boolean;
}

function targetsOf(type: string, job: Job, { pipelines }: Catalog): readonly Target[] {
  const own = job.pipeline === null ? undefined : pipelines.get(job.pipeline);
  const found = new Map<string, Target>();
  const add = (pipeline: Pipeline, step: string, isEntry: boolean) => {
    const node = pipeline.nodes.get(step);
    const key = `${pipeline.name}/${step}`;
    if (node !== undefined && !found.has(key)) found.set(key, { pipeline, node, isEntry });
  };
  if (own !== undefined) for (const step of nextOf(own, job.stepId)) add(own, step, false);
  for (const pipeline of pipelines.values())
    if (pipeline.on === type) for (const step of pipeline.entries) add(pipeline, step, true);
  return [...found.values()];
}

interface Emitted {
  readonly event: PluginEvent;
  readonly id: string;
}

function followEvent(ended: Ended, emitted: Emitted, catalog: Catalog): Following | HopFailure {
  const { job } = ended;
  const { type, payload } = emitted.event;
  const all = targetsOf(type, job, catalog);
  const dropped: Drop[] = [];
  const targets: Target[] = [];
  for (const target of all) {
    const reason = forbidden(target, type, { ended, catalog });
    const name = `${target.pipeline.name}/${target.node.id}`;
    if (reason === undefined) targets.push(target);
    else dropped.push({ event: type, target: name, reason });
  }
  if (targets.length === 0 && type.startsWith(REQUEST)) {
    const unroutable = unroutableResult(ended, emitted, catalog);
    return { jobs: unroutable === undefined ? [] : [unroutable], dropped };
  }
  const opened = openInstance(ended, emitted.event, catalog);
  const instances = new Map<string, string>();
  const jobs: NewJob[] = [];
  for (const { pipeline, node, isEntry } of targets) {
    const context = hop(isEntry ? opened : ended.context, { node, payload, mode: catalog.mode });
    if ("code" in context) return context;
    if (isEntry && !instances.has(pipeline.name)) instances.set(pipeline.name, ended.newId());
    jobs.push({
      ...routedJob(ended, emitted, node.plugin, catalog),
      pipeline: pipeline.name,
      stepId: node.id,
      instanceId: isEntry ? (instances.get(pipeline.name) ?? null) : job.instanceId,
      context,
    });
  }
  return { jobs, dropped };
}

/**
 * The next step hears of every event; a pipeline is not begun by the agent for itself, nor by a tool for it.
 */
function forbidden(
  { isEntry, node }: Target,
  type: string,
  { ended, catalog }: { ended: Ended; catalog: Catalog },
): Drop["reason"] | undefined {
  if (!isEntry) return undefined;
  const { plugin } = ended.job;
  if (node.plugin === plugin && catalog.hasNoSelfTrigger(plugin)) return "self-trigger";
  return ENDS.has(type) && isToolOfAgent(ended) ? "end-inside-agent" : undefined;
}

/**
 * The context a new instance begins with. Correlation goes with a tool's events, so that whatever they set
 * off still belongs to the agent's step; what the agent itself says next does not.
 */
function openInstance(ended: Ended, { type, payload }: PluginEvent, { mode }: Catalog): Context {
  const { job, context } = ended;
  const fresh = type.startsWith(REQUEST) ? requestCorrelation(payload) : null;
  const isAgent = !isToolOfAgent(ended);
  const agentic = fresh ?? (isAgent ? undefined : get(context.body, "agentic"));
  const replyTo = fresh === null ? (isAgent ? null : context.replyTo) : job.plugin;
  if (mode === "isolated") return { id: null, body: agentic === undefined ? {} : { agentic }, replyTo };
  const { agentic: _old, ...inherited } = context.body;
  return { id: null, body: { ...inherited, ...(agentic !== undefined && { agentic }) }, replyTo };
}

function routedJob(
  { job, now }: Ended,
  { event, id }: Emitted,
  plugin: string,
  { attemptsMax }: Catalog,
): Omit<NewJob, "pipeline" | "stepId" | "instanceId" | "context"> {
  const { type, payload } = event;
  const key = event.dedupe_key || null;
  return {
    plugin,
    command: "handle",
    payload: {
      ...{ type, payload },
      ...(key !== null && { dedupe_key: key }),
      ...{ event_id: id, source: job.plugin, timestamp: isoTime(now) },
    },
    submittedBy: "route",
    dedupeKey: key,
    sourceEventId: id,
    maxAttempts: attemptsMax(plugin, "handle"),
  };
}

/** A job that said nothing: its pipeline goes on with what it told people, and an agent hears of silence. */
function followSilence(ended: Ended, result: string | undefined, catalog: Catalog): Following | HopFailure {
  const { job, context } = ended;
  const pipeline = job.pipeline === null ? undefined : catalog.pipelines.get(job.pipeline);
  const next = nextOf(pipeline, job.stepId);
  if (next.length === 0) return { jobs: [], dropped: [] };
  if (result === undefined && isToolOfAgent(ended)) {
    const message = `\`${job.plugin}\` answered neither an event nor a result`;
    const error = { code: "tool_no_event", message, retryable: false };
    const told = resultFor(ended, error, catalog);
    return { jobs: told === undefined ? [] : [told], dropped: [] };
  }
  const event = { type: "gateway.step.succeeded", payload: { result: result ?? "" } };
  const jobs: NewJob[] = [];
  for (const step of next) {
    const node = pipeline?.nodes.get(step);
    if (node === undefined) continue;
    const hopped = hop(context, { node, payload: event.payload, mode: catalog.mode });
    if ("code" in hopped) return hopped;
    const made = routedJob(ended, { event, id: `${job.id}.succeeded` }, node.plugin, catalog);
    const place = { pipeline: job.pipeline, stepId: step, instanceId: job.instanceId };
    jobs.push({ ...made, ...place, payload: { ...made.payload, source: "gateway" }, context: hopped });
  }
  return { jobs, dropped: [] };
}

/** A request that leads nowhere is answered to whoever made it. */
function unroutableResult(ended: Ended, { event, id }: Emitted, catalog: Catalog): NewJob | undefined {
  const agentic = requestCorrelation(event.payload);
  if (agentic === null) return undefined;
  const message = `no pipeline begins with \`${event.type}\``;
  const error = { code: "tool_unroutable", message, retryable: false };
  const context: Context = { id: null, body: { agentic }, replyTo: ended.job.plugin };
  return resultJob({ ...ended, context }, { error, eventId: `${id}.result` }, catalog);
}

/**
 * The error result of a job that failed for good, or said nothing. None for the agent's own jobs: their run
 * is the agent's affair.
 */
export function resultFor(ended: Ended, error: ToolError, catalog: Catalog): NewJob | undefined {
  if (!isToolOfAgent(ended)) return undefined;
  return resultJob(ended, { error, eventId: `${ended.job.id}.result` }, catalog);
}

function resultJob(
  { context, now }: Ended,
  { error, eventId }: { error: ToolError; eventId: string },
  { attemptsMax }: Catalog,
): NewJob | undefined {
  const agentic = get(context.body, "agentic");
  if (context.replyTo === null || !isObject(agentic)) return undefined;
  const { event, dedupeKey } = errorResult(agentic, error, { eventId, at: isoTime(now) });
  return {
    ...{ plugin: context.replyTo, command: "handle", payload: event, submittedBy: "gateway", dedupeKey },
    ...{ pipeline: null, stepId: null, instanceId: null, sourceEventId: eventId, context },
    maxAttempts: attemptsMax(context.replyTo, "handle"),
  };
}
