// Rules as tables of journal lines, to be checked by eye: what is said to a run, and what it then does.
//
//   start                          entered work#1 · asks model
//   model emits Error              entered work#2 · asks model
//   model says "sorry"             finished completed
//
// Left of the gap is one input, right of it the facts of the turn it made, or why there was none.

import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { fold } from "../../src/core/apply.ts";
import { decide } from "../../src/core/decide.ts";
import type { Ask, Fact, ToolCall, TurnRow } from "../../src/core/facts.ts";
import type { Decision, Input, StartInput } from "../../src/core/input.ts";
import type { Program } from "../../src/core/program.ts";
import { type ReplayDifference, replayTurn } from "../../src/core/replay.ts";
import { emptyRun, type Run } from "../../src/core/run.ts";
import { openPack } from "../../src/pack/open-pack.ts";

export function program(text: string): Program {
  const opened = openPack(text, { file: "scenario.yaml" });
  if (!opened.ok) throw opened.toError();
  return opened.program;
}

/** A test of one rule; the title begins with its number. */
export function scenario(title: string, pack: string, table: string, start: Partial<StartInput> = {}): void {
  test(title, () => {
    const play = new Play(program(pack), start);
    const lines = table.split("\n").filter((line) => line.trim() !== "");
    const played = lines.map((line) => {
      const [input = "", expected] = line.trim().split(/\s{3,}/);
      return { input, expected: expected ?? "", actual: play.say(input) };
    });
    const width = Math.max(...played.map(({ input }) => input.length));
    const show = (which: "expected" | "actual") =>
      played.map((one) => `${one.input.padEnd(width)}   ${one[which]}`).join("\n");
    expect(show("actual")).toBe(show("expected"));
    expect(fold(play.rows), "the fold of the journal is the run").toEqual(play.run);
    expect(replayed(play), "S53: every turn is decided the same again").toBeUndefined();
  });
}

/** The first difference when the journal's turns are decided again, as a store would give them back. */
function replayed({ program: of, rows }: Play): ReplayDifference | undefined {
  let run = emptyRun;
  for (const row of JSON.parse(JSON.stringify(rows)) as readonly TurnRow[]) {
    const difference = replayTurn(of, run, row);
    if (difference !== undefined) return difference;
    run = fold([row], run);
  }
  return undefined;
}

export class Play {
  run: Run = emptyRun;
  readonly rows: TurnRow[] = [];
  readonly program: Program;
  readonly #start: Partial<StartInput>;
  #at = 1_000;

  constructor(of: Program, start: Partial<StartInput>) {
    this.program = of;
    this.#start = start;
  }

  say(line: string): string {
    const wait = /^(?:after|at) (\d+) ?s(?:, (.+))?$/.exec(line);
    if (wait !== null) {
      this.#at += Number(wait[1]) * 1000;
      return wait[2] === undefined ? "" : this.say(wait[2]);
    }
    const decision = decide(this.program, this.run, this.#input(line));
    return this.#take(decision);
  }

  #take(decision: Decision): string {
    if (decision.kind === "ignored") return `ignored: ${decision.why}`;
    if (decision.kind === "refused") return `refused ${shownRefusal(decision.refusal)}`;
    this.rows.push({ turn: this.run.turn + 1, at: this.#at, v: 1, facts: decision.facts });
    const before = this.run;
    this.run = decision.run;
    return decision.facts
      .map((fact) => shownFact(fact, before))
      .filter((text) => text !== "")
      .join(" · ");
  }

  #input(line: string): Input {
    const at = this.#at;
    const words = line.split(" ");
    switch (words[0]) {
      case "start":
        return {
          type: "start",
          at,
          digest: "d",
          mode: "autonomous",
          variables: {},
          input: "",
          ...this.#start,
        };
      case "model":
        return {
          type: "answer",
          at,
          step: this.#openStep((ask) => ask.kind === "model"),
          outcome: { ok: true, value: reply(line.slice(6)) },
        };
      case "model-fails":
        return {
          type: "answer",
          at,
          step: this.#openStep((ask) => ask.kind === "model"),
          outcome: { ok: false, code: words[1] ?? "error", message: "failed" },
        };
      case "tool":
        return this.#toolAnswer(words, at);
      case "timer":
        return {
          type: "answer",
          at,
          step: this.#openStep((ask) => ask.kind === "timer"),
          outcome: { ok: true, value: null },
        };
      case "event":
        return eventInput(words, at);
      case "message":
        return { type: "message", at, text: line.slice(8), by: "user" };
      case "approve":
        return {
          type: "approve",
          at,
          step: Number(words[1] ?? this.#openStep((ask) => ask.kind === "approval")),
          by: "alice",
          ...(words[2] !== undefined && { sha256: words[2] }),
        };
      case "reject":
        return {
          type: "reject",
          at,
          step: this.#openStep((ask) => ask.kind === "approval"),
          by: "bob",
          reason: words.slice(1).join(" "),
        };
      case "doubt":
        return { type: "hold", at, step: Number(words[1]), hold: "in_doubt" };
      case "retry":
      case "abort":
        return { type: words[0], at, step: Number(words[1]), by: "alice" };
      case "cancel":
        return { type: "cancel", at, by: "alice", reason: "" };
      case "answer":
        return {
          type: "answer",
          at,
          step: Number(words[1]),
          outcome: { ok: true, value: "late" },
          ...(words[2] !== undefined && { tool: words[2] }),
        };
      default:
        throw new Error(`no such line: ${line}`);
    }
  }

  #toolAnswer(words: readonly string[], at: number): Input {
    const tool = words[1] as string;
    const step = this.#openStep((ask) => (ask.kind === "tool" || ask.kind === "agent") && ask.tool === tool);
    const rest = words.slice(3).join(" ");
    if (words[2] === "fails")
      return { type: "answer", at, step, outcome: { ok: false, code: "tool_error", message: rest } };
    return { type: "answer", at, step, outcome: { ok: true, value: parse(rest) as Json } };
  }

  #openStep(which: (ask: Ask) => boolean): number {
    const found = Object.entries(this.run.open).find(([, { ask }]) => which(ask));
    return found === undefined ? 9999 : Number(found[0]);
  }
}

/** `says "text"`, `emits Event`, `sets name=value`, `calls tool({…})`, joined by ` and `. */
function reply(text: string): Json {
  const calls: ToolCall[] = [];
  let said = "";
  for (const part of text.split(" and ")) {
    const [verb, ...rest] = part.trim().split(" ");
    const object = rest.join(" ");
    const id = `c${calls.length + 1}`;
    if (verb === "says") said = object.replace(/^"|"$/g, "");
    else if (verb === "emits")
      calls.push({
        id,
        tool: "workflow__transition",
        args: { event: rest[0] as string, ...(rest.length > 1 && { context: rest.slice(1).join(" ") }) },
      });
    else if (verb === "sets") {
      const [name, value] = object.split(/=(.*)/s) as [string, string];
      calls.push({ id, tool: "workflow__set_artifact", args: { name, value } });
    } else if (verb === "calls") {
      const match = /^(\w+)(?:\((.*)\))?$/.exec(object) as RegExpExecArray;
      calls.push({
        id,
        tool: match[1] as string,
        args: (match[2] === undefined || match[2] === "" ? {} : parse(match[2])) as JsonObject,
      });
    } else throw new Error(`a model does not ${part}`);
  }
  return {
    text: said,
    calls: calls as unknown as Json,
    usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.01 },
  };
}

function eventInput(words: readonly string[], at: number): Input {
  const rest = words.slice(2).join(" ");
  const key = /key=(\S+)/.exec(rest)?.[1];
  const artifacts = /with (\{.*\})/.exec(rest)?.[1];
  return {
    type: "event",
    at,
    name: words[1] as string,
    by: /by (\w+)/.exec(rest)?.[1] ?? "alice",
    ...(key !== undefined && { dedupeKey: key }),
    ...(artifacts !== undefined && { artifacts: parse(artifacts) as JsonObject }),
  };
}

function shownFact(fact: Fact, run: Run): string {
  switch (fact.type) {
    case "started":
    case "forked":
      return "";
    case "entered": {
      const { cause } = fact;
      const hops =
        cause.kind === "event" && cause.hops !== undefined ? ` (limit of ${cause.hops.join(", ")})` : "";
      const by = cause.kind === "event" && cause.by !== undefined ? ` by ${cause.by}` : "";
      return `entered ${fact.state}#${fact.visit}${hops}${by}`;
    }
    case "asked":
      return shownAsk(fact.ask);
    case "answered":
      return !fact.outcome.ok && fact.outcome.code === "abandoned"
        ? `drops ${run.open[fact.step]?.ask.kind ?? "it"}`
        : "";
    case "wrote":
      return `wrote ${fact.artifact}=${JSON.stringify(fact.value)}`;
    case "noted":
      if (fact.what === "result") return fact.error ? `error result: ${String(fact.result)}` : "";
      return fact.what === "nudge"
        ? "nudges"
        : ["scheduled", "message", "dedupe"].includes(fact.what)
          ? ""
          : fact.what;
    case "finished": {
      const why =
        fact.reason === null
          ? ""
          : ` (${[fact.reason.code, fact.reason.value, fact.reason.state].filter((part) => part !== undefined).join(" ")})`;
      return `finished ${fact.status}${why}`;
    }
  }
}

function shownAsk(ask: Ask): string {
  switch (ask.kind) {
    case "model":
      return ask.tools ? "asks model" : "asks model to conclude";
    case "tool":
    case "agent":
      return `asks ${ask.kind} ${ask.tool}`;
    case "approval":
      return `asks approval of ${ask.tool}`;
    case "event":
      return `waits for ${ask.allow.join("|")}`;
    case "message":
      return "waits for a message";
    case "timer":
      return "";
    default:
      return ask.kind;
  }
}

const shownRefusal = (refusal: Extract<Decision, { kind: "refused" }>["refusal"]): string => {
  const allowed = "allowed" in refusal ? ` (${refusal.allowed.join("|")})` : "";
  return `${refusal.code}${allowed}`;
};
