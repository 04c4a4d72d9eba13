// What happened around the calls of a visit beside asking and answering, in the order of time: calls that
// left, were put off, in doubt or made again, who held the run, what failed, and what programs printed.

import { get, isObject, type Json } from "../../../src/base/json.ts";
import type { Ask, Fact, TurnRow } from "../../../src/core/facts.ts";
import { oneLineOf } from "../../../src/core/one-line.ts";
import { leftOutOf } from "../../../src/core/short-turn.ts";
import type { LogLine } from "./journal-shapes.ts";

/** The newest; the whole story is in the facts. */
const LINES_MAX = 100;
/** Of what a program printed its end is shown; all of it is in the call's result. */
const TAIL = 2_000;

type Said = Pick<LogLine, "step" | "text" | "output">;

/** `askOf` knows what a step asked. */
export function logLines(
  rows: readonly TurnRow[],
  askOf: (step: number) => Ask | undefined,
): readonly LogLine[] {
  const lines = rows.flatMap(({ turn, at, facts }) =>
    facts.flatMap((fact) => saidBy(fact, askOf).map((said) => ({ turn, at, ...said }))),
  );
  return lines.slice(-LINES_MAX);
}

function saidBy(fact: Fact, askOf: (step: number) => Ask | undefined): readonly Said[] {
  if (fact.type === "answered") return answered(fact, askOf(fact.step));
  if (fact.type !== "noted") return [];
  const step = "step" in fact ? fact.step : null;
  const text = notedText(fact);
  return text === undefined ? [] : [{ step, text, output: null }];
}

const by = (who: string | undefined): string => (who === undefined ? "" : ` by ${who}`);

function notedText(fact: Extract<Fact, { type: "noted" }>): string | undefined {
  switch (fact.what) {
    case "sent":
      return "the call is about to leave; it must not be made twice";
    case "in_doubt":
      return "the call may have been made or not";
    case "retried":
      return `the call is made again${by(fact.by)}`;
    case "deferred":
      if (fact.question !== undefined) return "put off until a person has answered";
      return fact.wakes === true ? "put off until a time" : "put off until somebody answers from outside";
    case "resumed":
      return `goes on${by(fact.by)}`;
    case "held":
      return `the run is held${by(fact.by)}${fact.reason === undefined ? "" : `: ${oneLineOf(fact.reason, 200)}`}`;
    case "unheld":
      return `the run is let go${by(fact.by)}`;
    case "stalled":
      return "waits until agents have brought back what they did not use";
    case "guarded":
      return `validator ${fact.validator} ${fact.action} what the model ${fact.direction === "input" ? "was told" : "said"}`;
    case "unwritten":
      return `${fact.artifact} was not written: ${oneLineOf(fact.message, 200)}`;
    case "traced":
      return fact.segment > 1 ? `taken up again, stretch ${fact.segment}` : undefined;
    case "part":
      return partText(fact);
    default:
      return undefined;
  }
}

function partText(fact: Extract<Fact, { what: "part" }>): string | undefined {
  if (fact.is === "failed") return `${fact.part} failed: ${fact.code}: ${oneLineOf(fact.message, 200)}`;
  if (fact.is === "begun" && fact.attempt > 1) return `${fact.part}: attempt ${fact.attempt}`;
  return undefined;
}

function answered(fact: Extract<Fact, { type: "answered" }>, ask: Ask | undefined): readonly Said[] {
  const { step, outcome } = fact;
  const name = ask !== undefined && "tool" in ask ? ask.tool : (ask?.kind ?? "the call");
  if (!outcome.ok) return [{ step, text: `${name} failed: ${outcome.code}`, output: endOf(outcome.message) }];
  if (ask?.kind !== "tool" || !isObject(outcome.value)) return [];
  const { value } = outcome;
  return ["stdout", "stderr"].flatMap((stream) => {
    const printed: Json | undefined = get(value, stream);
    return typeof printed === "string" && printed.trim() !== ""
      ? [{ step, text: `${name} printed on ${stream}`, output: endOf(printed) }]
      : [];
  });
}

/** Of a text whose end is not here, its beginning. */
function endOf(text: string): string {
  const [leftOut] = leftOutOf(text);
  if (leftOut !== undefined) return `${text.slice(0, Math.min(leftOut.at, TAIL))}…`;
  const whole = text.trimEnd();
  return whole.length > TAIL ? `…${whole.slice(-TAIL)}` : whole;
}
