// Journals with the facts that no example leads to: approvals, agents, hand-offs, conversations, forks. Made
// by the rules themselves from a list of inputs.

import { must } from "../src/base/assert.ts";
import { applyTurn } from "../src/core/apply.ts";
import { decide } from "../src/core/decide.ts";
import { type Ask, FACTS_VERSION, type TurnRow } from "../src/core/facts.ts";
import { decideFork } from "../src/core/fork.ts";
import type { Decision, Input } from "../src/core/input.ts";
import { emptyRun, type Run } from "../src/core/run.ts";
import { openPack } from "../src/pack/open-pack.ts";

const PACK = `
id: golden
name: Golden
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: "Work. {{artifacts.note}}", tools: [look, aide] }
  aide: { id: aide, name: Aide, version: 1.0.0, system_template: Help. }
tools:
  look:
    name: look
    description: Looks.
    parameters: { type: object, properties: { at: { type: string } } }
agents:
  entry: work
  members: { aide: { description: Helps. }, work: { description: Works. } }
workflow:
  version: 2
  entry: a
  engine: { result_bindings: { look: { artifact: note, path: found } } }
  states:
    a:
      prompt_task: work
      artifacts: { note: { type: text/plain } }
      on_event: { Go: out, Again: a }
    out: { prompt_task: work, orchestration: external, terminal: true }
`;

const opened = openPack(PACK, { file: "golden.yaml" });
if (!opened.ok) throw opened.toError();
const { program, digest } = opened;

export function journalsByHand(): Readonly<Record<string, readonly TurnRow[]>> {
  const talk = conversation();
  return {
    "by-hand-approval": approval().rows,
    "by-hand-cancel": cancelled().rows,
    "by-hand-conversation": talk.rows,
    "by-hand-fork": forked(talk).rows,
  };
}

function approval(): Writer {
  const writer = new Writer();
  const start = {
    digest,
    mode: "autonomous",
    variables: {},
    input: "Look around.",
    gated: ["look"],
  } as const;
  writer.say((at) => ({ ...start, type: "start", at, parent: { run: "r_parent", step: 4 } }));
  writer.model("I shall look.", []);
  writer.model("", [{ tool: "look", args: { at: "north" } }]);
  const by = "alice";
  writer.say((at, step) => ({ type: "approve", at, by, step: step("approval"), edit: { at: "south" } }));
  writer.say((at, step) => ({ type: "approve", at, by, step: step("approval") }));
  writer.say((at, step) => ({ type: "hold", at, step: step("tool"), hold: "in_doubt" }));
  writer.say((at, step) => ({ type: "retry", at, by, step: step("tool") }));
  writer.say((at, step) => ({ type: "answer", at, step: step("tool"), outcome: { ok: true, value: {} } }));
  writer.model("", [{ tool: "look", args: { at: "west" } }]);
  writer.say((at, step) => ({ type: "reject", at, by, step: step("approval"), reason: "too far" }));
  writer.model("", [{ tool: "aide", args: { query: "help" } }]);
  writer.say((at, step) => ({
    type: "answer",
    at,
    step: step("agent"),
    outcome: { ok: true, value: "aid" },
  }));
  writer.model("", [
    { tool: "workflow__set_artifact", args: { name: "note", value: "seen" } },
    { tool: "workflow__transition", args: { event: "Go", context: "over to you" } },
  ]);
  writer.say((at, step) => ({ type: "answer", at, step: step("reply"), outcome: { ok: true, value: null } }));
  return writer;
}

function cancelled(): Writer {
  const writer = new Writer();
  writer.say((at) => ({ type: "start", at, digest, mode: "autonomous", variables: {}, input: "" }));
  writer.model("", [{ tool: "aide", args: { query: "help" } }]);
  writer.say((at) => ({ type: "cancel", at, by: "bob", reason: "no longer needed" }));
  return writer;
}

function conversation(): Writer {
  const writer = new Writer();
  writer.say((at) => ({ type: "start", at, digest, mode: "conversational", variables: {}, input: "" }));
  writer.say((at) => ({ type: "message", at, text: "Hello", by: "carol" }));
  writer.model("Hello. What is it?", []);
  writer.say((at) => ({
    type: "event",
    at,
    name: "Again",
    by: "carol",
    dedupeKey: "m1",
    context: "once more",
  }));
  return writer;
}

/** Goes on from the second turn of another run, with an artifact put in. */
function forked(from: Writer): Writer {
  const writer = new Writer();
  for (const row of from.rows.slice(0, 2)) writer.take(row);
  writer.decided((at, run) =>
    decideFork(program, run, {
      at,
      from: { run: "r_talk", turn: 2 },
      digest,
      resetBudget: true,
      variables: {},
      artifacts: { note: "put in" },
      answers: [],
    }),
  );
  writer.model("Here I am again.", []);
  return writer;
}

type StepOf = (kind: Ask["kind"]) => number;

class Writer {
  readonly rows: TurnRow[] = [];
  #run: Run = emptyRun;
  #at = 1_767_225_600_000;

  take(row: TurnRow): void {
    this.rows.push(row);
    this.#run = applyTurn(this.#run, row);
    this.#at = row.at;
  }

  say(input: (at: number, step: StepOf) => Input): void {
    const step: StepOf = (kind) => {
      const found = Object.entries(this.#run.open).find(([, { ask }]) => ask.kind === kind);
      return Number(must(found, `a ${kind} is open`)[0]);
    };
    this.decided((at, run) => decide(program, run, input(at, step)));
  }

  model(
    text: string,
    calls: readonly { readonly tool: string; readonly args: Record<string, string> }[],
  ): void {
    const named = calls.map((call, index) => ({ id: `c${index + 1}`, ...call }));
    const usage = { inputTokens: 100, outputTokens: 20, costUsd: 0.001 };
    const outcome = { ok: true as const, value: { text, calls: named, usage } };
    this.say((at, step) => ({ type: "answer", at, step: step("model"), outcome }));
  }

  decided(decision: (at: number, run: Run) => Decision): void {
    this.#at += 1_000;
    const result = decision(this.#at, this.#run);
    if (result.kind !== "facts") throw new Error(`turn ${this.rows.length + 1}: ${JSON.stringify(result)}`);
    this.take({ turn: this.#run.turn + 1, at: this.#at, v: FACTS_VERSION, facts: result.facts });
  }
}
