// A conversation's lines: what a person types as an input, what a turn means to a person.

import { isObject } from "../../base/json.ts";
import type { TurnRow } from "../../core/facts.ts";
import type { Input } from "../../core/input.ts";
import type { Run } from "../../core/run.ts";
import { noteText as note, writeText as write } from "../output.ts";

/** The input a line stands for; undefined for an empty line, a text when it is a command gone wrong. */
export function chatInput(
  line: string,
  run: Run,
  { at, by }: { readonly at: number; readonly by: string },
): Input | string | undefined {
  const text = line.trim();
  if (text === "") return undefined;
  const [command, first, ...rest] = text.split(/\s+/);
  if (command === "/event") {
    if (first === undefined) return "/event expects the name of an event";
    const context = rest.join(" ");
    return { type: "event", at, by, name: first, ...(context !== "" && { context }) };
  }
  if (command === "/approve" || command === "/reject") {
    if (first === undefined || !/^\d{1,9}$/.test(first)) return `${command} expects the number of a step`;
    const step = Number(first);
    if (command === "/approve") return { type: "approve", at, step, by };
    return { type: "reject", at, step, by, reason: rest.join(" ") };
  }
  const isEvent = Object.values(run.open).some(({ ask }) => ask.kind === "event" && ask.allow.includes(text));
  return isEvent ? { type: "event", at, by, name: text } : { type: "message", at, by, text: line };
}

/** The model's texts on stdout; on stderr where the run goes and what it asks of a person. */
export function chatShow(known: Run["open"]): (row: TurnRow) => void {
  const models = new Set<number>();
  for (const [step, { ask }] of Object.entries(known)) if (ask.kind === "model") models.add(Number(step));
  return ({ facts }) => {
    for (const fact of facts) {
      if (fact.type === "asked") {
        const { ask, step } = fact;
        if (ask.kind === "model") models.add(step);
        if (ask.kind === "event") note(`  waits for one of: ${ask.allow.join(", ")}`);
        if (ask.kind === "approval")
          note(
            `  ${ask.tool} ${JSON.stringify(ask.args)} needs approval: /approve ${step} or /reject ${step} REASON`,
          );
      } else if (fact.type === "answered" && models.delete(fact.step)) {
        const value = fact.outcome.ok ? fact.outcome.value : null;
        const text = isObject(value) ? value["text"] : "";
        if (typeof text === "string" && text.trim() !== "") write(`${text.trimEnd()}\n`);
      } else if (fact.type === "entered" && fact.cause.kind === "event") note(`  → ${fact.state}`);
      else if (fact.type === "noted" && fact.what === "in_doubt")
        note(`  step ${fact.step} may or may not have happened; see packloop inbox`);
    }
  };
}
