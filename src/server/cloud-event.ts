// Facts as CloudEvents 1.0: what happened, thinly. Names and numbers leave, contents stay: whoever wants more
// asks for the turn.

import { isoTime } from "../base/iso-time.ts";
import type { JsonObject } from "../base/json.ts";
import type { Answered, Ask, Fact, Finished, TurnRow } from "../core/facts.ts";
import type { Run } from "../core/run.ts";

export interface CloudEvent {
  readonly specversion: "1.0";
  /** The same for every delivery of it. */
  readonly id: string;
  readonly source: string;
  readonly type: EventType;
  readonly subject?: string;
  readonly time: string;
  readonly datacontenttype: "application/json";
  /** Orders the events of one run as texts. */
  readonly sequence: string;
  readonly data: JsonObject;
}

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
  "artifact.written",
  "run.attention",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

interface Said {
  readonly type: EventType;
  readonly data: JsonObject;
}

/** `before` is the run the turn was committed to, `after` the run with it. */
export function cloudEvents(id: string, row: TurnRow, before: Run, after: Run): readonly CloudEvent[] {
  const events: CloudEvent[] = [];
  for (const [index, fact] of row.facts.entries()) {
    for (const { type, data } of saidBy(fact, before)) {
      const number = events.length + 1;
      const state = after.state ?? after.prompt;
      events.push({
        specversion: "1.0",
        id: `${id}/${row.turn}/${index + 1}${type === "workflow.max_visits_exceeded" ? "+" : ""}`,
        source: `/runs/${encodeURIComponent(id)}`,
        type,
        ...(state !== "" && { subject: state }),
        time: isoTime(row.at),
        datacontenttype: "application/json",
        sequence: `${String(row.turn).padStart(9, "0")}.${String(number).padStart(4, "0")}`,
        data: { run: id, turn: row.turn, state: after.state, ...data },
      });
    }
  }
  return events;
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
      const over: Said = { type: "workflow.max_visits_exceeded", data: { states: hops, to: fact.state } };
      return [...(hops.length > 0 ? [over] : []), { type: "workflow.transitioned", data }];
    }
    case "asked":
      return askSaid(fact.step, fact.ask);
    case "answered":
      return answerSaid(fact, before.open[fact.step]?.ask);
    case "wrote":
      return [{ type: "artifact.written", data: { artifact: fact.artifact, mode: fact.mode } }];
    case "noted":
      return fact.what === "in_doubt"
        ? [{ type: "run.attention", data: { step: fact.step, reason: "in_doubt" } }]
        : [];
    case "finished":
      return [endSaid(fact)];
  }
}

function askSaid(step: number, ask: Ask): readonly Said[] {
  switch (ask.kind) {
    case "model":
      return [{ type: "provider.call.started", data: { step, round: ask.round } }];
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
