// The lines of `trace.jsonl`: what was decided about a run, one line per fact. Texts of models and tools are not
// copied there, only how long they are and their hash.

import type { Json, JsonObject } from "../base/json.ts";
import { sha256Of } from "../base/sha256.ts";
import type { Fact } from "../core/facts.ts";

export interface TraceLine {
  readonly fact:
    | "started"
    | "asked"
    | "answered"
    | "retried"
    | "ignored"
    | "refused"
    | "finished"
    | "reframed"
    | "deferred";
  readonly rest: JsonObject;
}

/** What the core decided. Steps are those of the wire: only tool actions have one. */
export function traceOf(facts: readonly Fact[], step: number): readonly TraceLine[] {
  const lines: TraceLine[] = [];
  let phase = "";
  let asked = step;
  for (const fact of facts) {
    if (fact.type === "started") lines.push({ fact: "started", rest: { goal: mark(fact.input) } });
    if (fact.type === "entered") phase = fact.state;
    if (fact.type === "entered" && fact.cause.kind === "event" && fact.cause.event === "Reframe")
      lines.push({ fact: "reframed", rest: {} });
    if (fact.type === "asked" && fact.ask.kind === "model")
      lines.push({ fact: "asked", rest: { ask: "model", phase } });
    if (fact.type === "asked" && fact.ask.kind === "tool") {
      asked++;
      const { tool, args } = fact.ask;
      lines.push({
        fact: "asked",
        rest: { ask: "tool", step: asked, tool, input: mark(JSON.stringify(args)) },
      });
    }
    if (fact.type === "answered" && fact.outcome.ok)
      lines.push({ fact: "answered", rest: answered(fact.outcome.value) });
    // A question that the run no longer asks had no answer.
    if (fact.type === "answered" && !fact.outcome.ok && fact.outcome.code !== "abandoned")
      lines.push({ fact: "answered", rest: { outcome: "error", code: fact.outcome.code } });
    if (fact.type === "finished")
      lines.push({ fact: "finished", rest: { status: fact.status, reason: fact.reason?.code ?? null } });
  }
  return lines;
}

const answered = (value: Json): JsonObject => ({ outcome: "ok", value: mark(JSON.stringify(value)) });

/** Enough to tell two texts apart. */
const mark = (text: string): JsonObject => ({
  length: text.length,
  sha256: sha256Of(text).slice(0, 16),
});
