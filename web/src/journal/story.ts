// A turn in one line: what somebody said, and where it led.

import type { Ask, Fact, ModelReply, TurnRow } from "../../../src/core/facts.ts";
import { oneLineOf } from "../../../src/core/one-line.ts";
import { SET_ARTIFACT, TRANSITION } from "../../../src/core/reserved.ts";
import type { Run } from "../../../src/core/run.ts";
import type { TurnLine } from "./journal-shapes.ts";

/** `before` is the run as the turn found it. */
export function turnLine(row: TurnRow, before: Run): TurnLine {
  const parts = row.facts.map((fact) => partOf(fact, before)).filter((part) => part !== undefined);
  const [first] = parts;
  const end = row.facts.findLast((fact) => fact.type === "finished" || fact.type === "entered");
  const led = end === undefined || end === row.facts[0] ? "" : ` → ${ledTo(end)}`;
  return {
    turn: row.turn,
    at: row.at,
    kind: first?.kind ?? "note",
    text: `${first?.text ?? "noted"}${led}`,
  };
}

type Part = Pick<TurnLine, "kind" | "text">;

function ledTo(fact: Fact): string {
  if (fact.type === "finished") return `ended ${fact.status.replace("_", " ")}`;
  return fact.type === "entered" ? `entered ${fact.state} (${fact.visit})` : "";
}

function partOf(fact: Fact, before: Run): Part | undefined {
  switch (fact.type) {
    case "started":
      return { kind: "start", text: "started" };
    case "forked":
      return { kind: "start", text: `forked from ${fact.from.run} at turn ${fact.from.turn}` };
    case "entered": {
      const by = fact.cause.kind === "event" ? ` by ${fact.cause.event}` : "";
      const who = fact.cause.kind === "event" && fact.cause.by !== undefined ? ` from ${fact.cause.by}` : "";
      return {
        kind: who === "" ? "move" : "person",
        text: `entered ${fact.state} (${fact.visit})${by}${who}`,
      };
    }
    case "answered":
      return answered(fact, before.open[fact.step]?.ask);
    case "wrote":
      return { kind: "note", text: `wrote ${fact.artifact}` };
    case "noted":
      return noted(fact);
    case "finished":
      return { kind: "end", text: `ended ${fact.status.replace("_", " ")}` };
    case "asked":
      return undefined;
  }
}

function answered(fact: Extract<Fact, { type: "answered" }>, ask: Ask | undefined): Part {
  const { outcome, step } = fact;
  if (ask?.kind === "model")
    return {
      kind: "model",
      text: outcome.ok ? said(outcome.value as unknown as ModelReply) : `model call failed: ${outcome.code}`,
    };
  if (ask?.kind === "approval") {
    const who = fact.by ?? "somebody";
    return { kind: "person", text: `${who} ${outcome.ok ? "approved" : "rejected"} ${ask.tool}` };
  }
  if (ask?.kind === "tool" || ask?.kind === "agent") {
    const who = fact.by === undefined ? "" : ` by ${fact.by}`;
    return { kind: "tool", text: `${ask.tool} ${outcome.ok ? "answered" : `failed: ${outcome.code}`}${who}` };
  }
  return { kind: "note", text: `step ${step} (${ask?.kind ?? "unknown"}) was answered` };
}

function said({ text, calls }: ModelReply): string {
  const own = calls
    .filter(({ tool }) => tool !== TRANSITION && tool !== SET_ARTIFACT)
    .map(({ tool }) => tool);
  if (own.length > 0) return `model calls ${own.join(", ")}`;
  const line = oneLineOf(text, 60);
  return line === "" ? "model answered" : `model: ${line}`;
}

function noted(fact: Extract<Fact, { type: "noted" }>): Part | undefined {
  switch (fact.what) {
    case "message":
      return { kind: "person", text: `${fact.by}: ${oneLineOf(fact.text, 60)}` };
    case "nudge":
      return { kind: "note", text: "model was asked to go on" };
    case "in_doubt":
      return { kind: "tool", text: `step ${fact.step} is in doubt` };
    case "retried":
      return { kind: "person", text: `step ${fact.step} is made again` };
    case "deferred":
      return { kind: "tool", text: `step ${fact.step} was deferred` };
    case "resumed":
      return { kind: "tool", text: `step ${fact.step} goes on` };
    case "sent":
      return { kind: "tool", text: `step ${fact.step} is sent` };
    case "guarded":
      return { kind: "note", text: `validator ${fact.validator} ${fact.action} a text` };
    case "stalled":
      return { kind: "note", text: "a model call waits for what agents bring back" };
    case "unwritten":
      return { kind: "note", text: `${fact.artifact} was not written: ${oneLineOf(fact.message, 60)}` };
    default:
      return undefined;
  }
}
