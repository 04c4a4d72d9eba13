// Rules as tables of journal lines, to be checked by eye: what is said to a run, and what it then does.
//
//   start                          entered work#1 · asks model
//   model emits Error              entered work#2 · asks model
//   model says "sorry"             finished completed
//
// Left of the gap is one input, right of it the facts of the turn it made, or why there was none.

import { expect, test } from "vitest";
import { parse } from "yaml";
import { must } from "../../src/base/assert.ts";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { fold } from "../../src/core/apply.ts";
import { decide } from "../../src/core/decide.ts";
import type { Ask, Fact, Grant, Noted, ToolCall, TurnRow } from "../../src/core/facts.ts";
import { decideFork, packOfFork } from "../../src/core/fork.ts";
import type { Decision, Input, StartInput } from "../../src/core/input.ts";
import { keyPause } from "../../src/core/missing-key.ts";
import type { Program } from "../../src/core/program.ts";
import { digestFor, type ReplayDifference, replayTurn } from "../../src/core/replay.ts";
import { modelRequest, requestHash } from "../../src/core/request.ts";
import { emptyRun, type Run, statusOf } from "../../src/core/run.ts";
import { openPack } from "../../src/pack/open-pack.ts";

export function program(text: string): Program {
  const opened = openPack(text, { file: "scenario.yaml" });
  if (!opened.ok) throw opened.toError();
  return opened.program;
}

/** How the run is started, and the pack a line `fork onto another` goes on with. */
type Setting = Partial<StartInput> & { readonly another?: string };

/** A test of one rule; the title begins with its number. */
export function scenario(title: string, pack: string, table: string, setting: Setting = {}): void {
  test(title, () => {
    const { another, ...start } = setting;
    const play = new Play(program(pack), start, another === undefined ? undefined : program(another));
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
function replayed(play: Play): ReplayDifference | undefined {
  let run = emptyRun;
  for (const row of JSON.parse(JSON.stringify(play.rows)) as readonly TurnRow[]) {
    const difference = replayTurn(play.programOf(digestFor(run, row)), run, row);
    if (difference !== undefined) return difference;
    run = fold([row], run);
  }
  return undefined;
}

export class Play {
  run: Run = emptyRun;
  readonly rows: TurnRow[] = [];
  readonly #programs: Readonly<Record<string, Program | undefined>>;
  readonly #start: Partial<StartInput>;
  #at = 1_000;

  constructor(of: Program, start: Partial<StartInput>, another?: Program) {
    this.#programs = { d: of, another };
    this.#start = start;
  }

  programOf(digest: string): Program {
    const found = this.#programs[digest];
    if (found === undefined) throw new Error(`no such pack: ${digest}`);
    return found;
  }

  get program(): Program {
    return this.programOf(this.run.digest || "d");
  }

  say(line: string): string {
    const wait = /^(?:after|at) (\d+) ?s(?:, (.+))?$/.exec(line);
    if (wait !== null) {
      this.#at += Number(wait[1]) * 1000;
      return wait[2] === undefined ? "" : this.say(wait[2]);
    }
    const [verb, ...words] = line.split(" ");
    if (verb === "status") return statusOf(this.run);
    if (verb === "look") return this.#look(Number(words[0]));
    if (verb === "fork") return this.#take(this.#fork(words));
    return this.#take(decide(this.program, this.run, this.#input(line)));
  }

  /** How a call stands, as its adapter would be told. */
  #look(step: number): string {
    const open = this.run.open[step];
    if (open === undefined) return "closed";
    const { handle, input } = open.later ?? {};
    const told = Object.entries({ handle, input }).flatMap(([key, value]) =>
      value === undefined ? [] : [`${key} ${JSON.stringify(value)}`],
    );
    const marks = [...(open.sent === true ? ["sent"] : []), ...(open.later?.looks === true ? ["looks"] : [])];
    return [open.hold ?? "open", ...marks, ...told].join(" · ");
  }

  /**
   * `fork`, `fork with NAME VALUE`, `fork onto another`, `fork onto another choosing EVENT`, `fork answering STEP
   * VALUE`.
   */
  #fork([how, ...rest]: readonly string[]): Decision {
    const before = this.program;
    const digest = how === "onto" ? (rest[0] as string) : this.run.digest;
    const value = parse(rest.slice(1).join(" ")) as Json;
    return decideFork(this.programOf(digest), this.run, {
      at: this.#at,
      from: { run: "r", turn: this.run.turn },
      digest,
      resetBudget: false,
      variables: { ...this.run.variables, ...(how === "with" && { [rest[0] as string]: rest[1] as string }) },
      artifacts: {},
      answers: how === "answering" ? [{ step: Number(rest[0]), outcome: { ok: true, value } }] : [],
      ...(rest[1] === "choosing" && { event: rest[2] as string }),
      ...(how === "onto" && { pack: packOfFork(before, this.programOf(digest), this.run) }),
    });
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
        return this.#modelAnswer(line.slice(6), at);
      case "model-fails":
        return {
          type: "answer",
          at,
          step: this.#openStep((ask) => ask.kind === "model"),
          outcome: { ok: false, code: words[1] ?? "error", message: "failed" },
        };
      case "tool":
        return this.#toolAnswer(words, at);
      case "agent":
        return agentInput(words, at);
      case "timer":
        return {
          type: "answer",
          at,
          step: this.#openStep((ask) => ask.kind === "timer" && ask.wakes === undefined),
          outcome: { ok: true, value: null },
        };
      case "wake":
        return {
          type: "answer",
          at,
          step: this.#openStep((ask) => ask.kind === "timer" && ask.wakes === Number(words[1])),
          outcome: { ok: true, value: null },
        };
      case "sent":
        return { type: "sent", at, step: Number(words[1]) };
      case "defer":
        return deferInput(line, at);
      case "bob":
        return personInput(words, at);
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
          ...(words[2] === "edit" && { edit: parse(words.slice(3).join(" ")) as Json }),
          ...(words[2] !== undefined && words[2] !== "edit" && { sha256: words[2] }),
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
      case "pause":
        return { type: "pause", at, by: "alice" };
      case "nokey":
        return must(keyPause({ ok: false, code: "no_key", message: "set A_KEY" }, at), "it lacks a key");
      case "unpause":
        return { type: "unpause", at, by: "bob" };
      case "fail":
        return { type: "fail", at, by: "shell", code: words[1] ?? "", message: words.slice(2).join(" ") };
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

  /** With the hash of what the model was sent, as the dispatcher gives it. */
  #modelAnswer(said: string, at: number): Input {
    const [, part, text = said] = /^@(\w+) (.*)$/s.exec(said) ?? [];
    const step = this.#openStep((one) => one.kind === "model" && (part === undefined || one.part === part));
    const ask = this.run.open[step]?.ask;
    const hash = ask?.kind === "model" ? requestHash(modelRequest(this.program, this.run, ask)) : "";
    return { type: "answer", at, step, outcome: { ok: true, value: reply(text) }, hash };
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

/** For a step of a composition `model @step says …`. `says "text"`, `emits Event`, `sets name=value`, `calls tool({…})`, joined by ` and `. */
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

/** `defer 2`, with ` until 10 s`, ` looks`, ` handle h`, ` asks question` behind it, in that order. */
function deferInput(line: string, at: number): Input {
  const [, step, until, looks, handle, question] =
    /^defer (\d+)(?: until (\d+) s)?( looks)?(?: handle (\S+))?(?: asks (.+))?$/.exec(line) ?? [];
  return {
    type: "hold",
    at,
    step: Number(step),
    hold: "deferred",
    ...(until !== undefined && { until: Number(until) * 1000 }),
    ...(looks !== undefined && { looks: true as const }),
    ...(handle !== undefined && { handle }),
    ...(question !== undefined && { question }),
  };
}

/** `agent 2 spent 3`: the run of step 2 has ended after three model calls; `agent 2 failed after 3`. */
function agentInput([, step, how, ...rest]: readonly string[], at: number): Input {
  const modelCalls = Number(rest.at(-1));
  const tokens = { inputTokens: 10 * modelCalls, outputTokens: 5 * modelCalls, costUsd: 0.01 * modelCalls };
  const outcome =
    how === "failed"
      ? { ok: false as const, code: "cancelled", message: "no" }
      : { ok: true as const, value: { status: "completed", response: "found", artifacts: {} } };
  const spent = { visits: 1, toolCalls: 0, modelCalls, ...tokens };
  return { type: "answer", at, step: Number(step), outcome, spent };
}

/** `bob says 2 value`, `bob fails 2`. */
function personInput([, verb, step, ...rest]: readonly string[], at: number): Input {
  const outcome =
    verb === "fails"
      ? { ok: false as const, code: "tool_error", message: "no" }
      : { ok: true as const, value: parse(rest.join(" ")) as Json };
  return { type: "answer", at, step: Number(step), outcome, by: "bob" };
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
      return !fact.outcome.ok && fact.outcome.code === "abandoned" ? `drops ${droppedKind(fact, run)}` : "";
    case "wrote":
      return `wrote ${fact.artifact}=${JSON.stringify(fact.value)}`;
    case "noted":
      if (fact.what === "composing" || fact.what === "part" || fact.what === "composed")
        return shownPart(fact);
      if (fact.what === "result") return fact.error ? `error result: ${String(fact.result)}` : "";
      if (fact.what === "resumed" && fact.input !== undefined)
        return `resumed with ${JSON.stringify(fact.input)}`;
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

function shownPart(fact: Extract<Noted, { readonly what: "composing" | "part" | "composed" }>): string {
  if (fact.what === "composing") return `composes ${JSON.stringify(fact.input)}`;
  if (fact.what === "composed") return `composed ${JSON.stringify(fact.output)}`;
  if (fact.is === "begun") {
    const again = fact.attempt > 1 ? ` again${fact.mends === undefined ? "" : " to mend"}` : "";
    return `${fact.part} begins${again}${fact.input === undefined ? "" : ` with ${JSON.stringify(fact.input)}`}`;
  }
  if (fact.is === "failed") return `${fact.part} failed (${fact.code})`;
  const output = fact.is === "done" && fact.output !== undefined ? ` ${JSON.stringify(fact.output)}` : "";
  return `${fact.part} ${fact.is}${output}`;
}

function droppedKind({ step }: Extract<Fact, { type: "answered" }>, run: Run): string {
  const ask = run.open[step]?.ask;
  return ask?.kind === "timer" && ask.wakes !== undefined ? "wake" : (ask?.kind ?? "it");
}

const shownGrant = (grant: Grant): string => Object.values(grant).join("/");

function shownAsk(ask: Ask): string {
  switch (ask.kind) {
    case "model":
      return ask.tools ? "asks model" : "asks model to conclude";
    case "tool":
    case "agent":
      return `asks ${ask.kind} ${ask.tool}${ask.grant === undefined ? "" : ` with ${shownGrant(ask.grant)}`}`;
    case "approval":
      return `asks approval of ${ask.tool}`;
    case "event":
      return `waits for ${ask.allow.join("|")}`;
    case "message":
      return "waits for a message";
    case "timer":
      return ask.wakes === undefined ? "" : `wakes ${ask.wakes} at ${ask.due / 1000} s`;
    default:
      return ask.kind;
  }
}

const shownRefusal = (refusal: Extract<Decision, { kind: "refused" }>["refusal"]): string => {
  const allowed = "allowed" in refusal ? ` (${refusal.allowed.join("|")})` : "";
  return `${refusal.code}${allowed}`;
};
