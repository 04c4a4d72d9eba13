// Facts as CloudEvents 1.0: what happened, thinly. Names and numbers leave, contents stay: whoever wants more
// asks for the turn.

import { isoTime } from "../base/iso-time.ts";
import { deepEqual, get, type Json, type JsonObject } from "../base/json.ts";
import type { Answered, Ask, Fact, Finished, Noted, TurnRow } from "../core/facts.ts";
import { missingKey } from "../core/missing-key.ts";
import type { OpenAsk, Run } from "../core/run.ts";

export interface CloudEvent {
  readonly specversion: "1.0";
  /** The same for every delivery of it. */
  readonly id: string;
  readonly source: string;
  readonly type: EventType;
  readonly subject?: string;
  readonly time: string;
  readonly datacontenttype: "application/json";
  readonly dataschema: string;
  /** Orders the events of one run as texts. */
  readonly sequence: string;
  /** Of a fork: the run and the last turn it was copied from. */
  readonly forkedfrom?: string;
  /** Of an agent's run: the run and the step that called it. */
  readonly parent?: string;
  /** Where the run is traced. */
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly data: JsonObject;
}

export const BATCH_TYPE = "application/cloudevents-batch+json";

/** Names and numbers beside `run`, `turn` and `state`, by type. */
const DATA_SCHEMA = "urn:packloop:event-data:1";

export const EVENT_TYPES = [
  "workflow.started",
  "workflow.transitioned",
  "workflow.max_visits_exceeded",
  "workflow.waiting",
  "workflow.completed",
  "workflow.budget_exhausted",
  "workflow.failed",
  "workflow.cancelled",
  "provider.call.started",
  "provider.call.completed",
  "provider.call.failed",
  "tool.call.started",
  "tool.call.completed",
  "tool.call.failed",
  "approval.requested",
  "approval.decided",
  "prompt.template.rendered",
  "artifact.written",
  "state.saved",
  "run.attention",
  "run.held",
  "run.unheld",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

interface Said {
  readonly type: EventType;
  readonly data: JsonObject;
  /** Said beside what the fact is mainly about. */
  readonly aside?: true;
}

/** `before` is the run the turn was committed to, `after` the run with it. */
export function cloudEvents(id: string, row: TurnRow, before: Run, after: Run): readonly CloudEvent[] {
  const said = row.facts.flatMap((fact, index) =>
    saidBy(fact, before).map((one) => ({ ...one, place: `${index + 1}${one.aside === true ? "+" : ""}` })),
  );
  const saved = { type: "state.saved" as const, data: { facts: row.facts.length }, place: "0" };
  const state = after.state ?? after.prompt;
  const { forkedFrom, parent, trace } = after;
  return [...said, saved].map(({ type, data, place }, index) => ({
    specversion: "1.0",
    id: `${id}/${row.turn}/${place}`,
    source: `/runs/${encodeURIComponent(id)}`,
    type,
    ...(state !== "" && { subject: state }),
    time: isoTime(row.at),
    datacontenttype: "application/json",
    dataschema: DATA_SCHEMA,
    sequence: `${String(row.turn).padStart(9, "0")}.${String(index + 1).padStart(4, "0")}`,
    ...(forkedFrom !== null && { forkedfrom: `${forkedFrom.run}/${forkedFrom.turn}` }),
    ...(parent !== null && { parent: `${parent.run}/${parent.step}` }),
    ...(trace !== undefined && { traceparent: trace.traceparent }),
    ...(trace?.tracestate !== undefined && { tracestate: trace.tracestate }),
    data: { run: id, turn: row.turn, state: after.state, ...data },
  }));
}

function saidBy(fact: Fact, before: Run): readonly Said[] {
  switch (fact.type) {
    case "started":
    case "forked":
      return [{ type: "workflow.started", data: { pack_digest: fact.digest } }];
    case "entered": {
      if (fact.cause.kind === "entry") return [];
      const { from, event, hops = [], by } = fact.cause;
      const data = { from, event, to: fact.state, visit: fact.visit, by: by ?? null };
      const missed = { states: hops, to: fact.state };
      const over: Said = { type: "workflow.max_visits_exceeded", data: missed, aside: true };
      return [...(hops.length > 0 ? [over] : []), { type: "workflow.transitioned", data }];
    }
    case "asked":
      return askSaid(fact.step, fact.ask);
    case "answered":
      return answerSaid(fact, before.open[fact.step]?.ask);
    case "wrote":
      return [{ type: "artifact.written", data: { artifact: fact.artifact, mode: fact.mode } }];
    case "noted":
      return notedSaid(fact, before);
    case "finished":
      return [endSaid(fact)];
  }
}

function notedSaid(fact: Noted, before: Run): readonly Said[] {
  if (fact.what === "in_doubt")
    return [{ type: "run.attention", data: { step: fact.step, reason: "in_doubt" } }];
  if (fact.what === "held" || fact.what === "unheld") {
    const lack = fact.what === "held" ? missingKey({ held: { ...fact, since: 0 } }) : undefined;
    const attention: Said = { type: "run.attention", data: { reason: "auth_required" }, aside: true };
    const held: Said = { type: `run.${fact.what}`, data: { by: fact.by } };
    return lack === undefined ? [held] : [attention, held];
  }
  if (fact.what !== "deferred") return [];
  const { step, question } = fact;
  // One that wakes by itself waits for nobody, or for whoever was told before.
  if (fact.wakes === true && (question === undefined || isKnown(before.open[step], question))) return [];
  return get(question ?? null, "auth") === true
    ? [{ type: "run.attention", data: { step, reason: "auth_required" } }]
    : [{ type: "workflow.waiting", data: { step, for: "answer" } }];
}

const isKnown = (open: OpenAsk | undefined, question: Json): boolean =>
  open?.later?.question !== undefined && deepEqual(open.later.question, question);

function askSaid(step: number, ask: Ask): readonly Said[] {
  switch (ask.kind) {
    case "model":
      return [
        ...(ask.round === 1 ? [rendered(step)] : []),
        { type: "provider.call.started", data: { step, round: ask.round } },
      ];
    case "tool":
    case "agent":
      return [{ type: "tool.call.started", data: { step, tool: ask.tool } }];
    case "approval":
      return [{ type: "approval.requested", data: { step, tool: ask.tool, sha256: ask.sha256 } }];
    case "event":
      return [{ type: "workflow.waiting", data: { step, for: "event", events: ask.allow } }];
    case "message":
      return [{ type: "workflow.waiting", data: { step, for: "message" } }];
    default:
      return [];
  }
}

/** The first request of a visit is where its prompt is filled in. */
const rendered = (step: number): Said => ({ type: "prompt.template.rendered", data: { step }, aside: true });

function answerSaid({ step, outcome, by }: Answered, ask: Ask | undefined): readonly Said[] {
  // What was given up says nothing about the call.
  if (ask === undefined || (!outcome.ok && outcome.code === "abandoned")) return [];
  const error = outcome.ok ? {} : { code: outcome.code };
  if (ask.kind === "model") {
    const type = outcome.ok ? "provider.call.completed" : "provider.call.failed";
    return [{ type, data: { step, ...error } }];
  }
  if (ask.kind === "tool" || ask.kind === "agent") {
    const type = outcome.ok ? "tool.call.completed" : "tool.call.failed";
    return [{ type, data: { step, tool: ask.tool, ...error } }];
  }
  if (ask.kind !== "approval") return [];
  const decision = outcome.ok ? outcome.value : "rejected";
  return [{ type: "approval.decided", data: { step, tool: ask.tool, decision, by: by ?? null } }];
}

function endSaid({ status, reason }: Finished): Said {
  const why = reason === null ? {} : { reason: reason as unknown as JsonObject };
  return { type: `workflow.${status}`, data: { status, ...why } };
}
