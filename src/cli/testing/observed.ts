// What a run did, read back from its journal for judging: its way, what was called and how that ended, what
// was said, which validators fired.

import type { Json } from "../../base/json.ts";
import type { Ask, ModelReply, Noted, Outcome, PartNoted, TurnRow } from "../../core/facts.ts";
import type { Program } from "../../core/program.ts";
import type { Run } from "../../core/run.ts";
import { type TraceRow, traceOf } from "../../core/trace.ts";

export interface Observed {
  readonly program: Program;
  readonly run: Run;
  readonly trace: readonly TraceRow[];
  /** In the order they were asked for, calls of reserved tools included. */
  readonly calls: readonly ObservedCall[];
  readonly texts: readonly ObservedText[];
  readonly guards: readonly ObservedGuard[];
  readonly parts: readonly ObservedPart[];
  /** What compositions came to, in order. */
  readonly composed: readonly Json[];
}

/** How a step of a composition ended. */
export interface ObservedPart {
  readonly part: string;
  readonly is: "done" | "failed" | "skipped";
  readonly output: Json;
}

export interface ObservedCall {
  readonly tool: string;
  readonly args: Json;
  readonly turn: number;
  /** Undefined while nothing came back. */
  readonly isError: boolean | undefined;
  /** What it said when it failed. */
  readonly error?: string;
}

export interface ObservedText {
  readonly state: string;
  readonly text: string;
  readonly turn: number;
}

export interface ObservedGuard {
  readonly validator: string;
  readonly direction: "input" | "output";
  readonly turn: number;
}

export function observe(program: Program, run: Run, rows: readonly TurnRow[]): Observed {
  const reader = new JournalReader();
  for (const row of rows) reader.take(row);
  const { calls, texts, guards, parts, composed } = reader;
  return { program, run, trace: [...traceOf(rows)], calls, texts, guards, parts, composed };
}

type OpenCall = { -readonly [K in keyof ObservedCall]: ObservedCall[K] };

class JournalReader {
  readonly calls: OpenCall[] = [];
  readonly texts: ObservedText[] = [];
  readonly guards: ObservedGuard[] = [];
  readonly parts: ObservedPart[] = [];
  readonly composed: Json[] = [];
  /** What each part was last told: the text of its model, or the value of its tool. */
  readonly #saidIn = new Map<string, Json>();
  readonly #prompts = new Set<string>();
  /** By the model's name for the call; a name used again means the later one. */
  readonly #callsById = new Map<string, OpenCall>();
  readonly #asks = new Map<number, Ask>();
  #state = "";

  take({ turn, facts }: TurnRow): void {
    for (const fact of facts) {
      if (fact.type === "entered") this.#state = fact.state;
      else if (fact.type === "asked") this.#asked(fact.step, fact.ask, turn);
      else if (fact.type === "noted") this.#noted(fact, turn);
      else if (fact.type === "answered") {
        const ask = this.#asks.get(fact.step);
        if (ask !== undefined && "part" in ask && fact.outcome.ok)
          this.#heard(ask.part, ask, fact.outcome.value);
        if (ask?.kind === "model" && fact.outcome.ok)
          this.#said(fact.outcome.value as unknown as ModelReply, turn);
        else if (ask?.kind === "tool" || ask?.kind === "agent") this.#came(ask.call, fact.outcome);
        // What is approved is asked as a call of its own.
        else if (ask?.kind === "approval" && !fact.outcome.ok) this.#came(ask.call, fact.outcome);
      }
    }
  }

  /** A step of a composition calls its tool without a model having said so. */
  #asked(step: number, ask: Ask, turn: number): void {
    this.#asks.set(step, ask);
    if (ask.kind !== "tool" && ask.kind !== "agent" && ask.kind !== "approval") return;
    if (ask.part === undefined || this.#callsById.has(ask.call)) return;
    const call: OpenCall = { tool: ask.tool, args: ask.args, turn, isError: undefined };
    this.calls.push(call);
    this.#callsById.set(ask.call, call);
  }

  #said({ text, calls }: ModelReply, turn: number): void {
    this.texts.push({ state: this.#state, text, turn });
    for (const { id, tool, args } of calls) {
      const call: OpenCall = { tool, args, turn, isError: undefined };
      this.calls.push(call);
      this.#callsById.set(id, call);
    }
  }

  #came(id: string, outcome: Outcome): void {
    const call = this.#callsById.get(id);
    if (call === undefined) return;
    call.isError = !outcome.ok;
    if (!outcome.ok) call.error = outcome.message;
  }

  /** A step that asks a model is about its text, one that calls a tool about the result. */
  #heard(part: string | undefined, ask: Ask, value: Json): void {
    if (part === undefined) return;
    if (ask.kind === "model") this.#saidIn.set(part, (value as unknown as ModelReply).text);
    else if (!this.#prompts.has(part)) this.#saidIn.set(part, value);
  }

  #part(fact: PartNoted): void {
    const { part, is } = fact;
    if (is === "begun" && fact.prompt !== undefined) this.#prompts.add(part);
    if (is === "begun") return;
    const output = is === "done" ? (fact.output ?? this.#saidIn.get(part) ?? null) : null;
    this.parts.push({ part, is, output });
  }

  #noted(fact: Noted, turn: number): void {
    if (fact.what === "part") this.#part(fact);
    if (fact.what === "composed") this.composed.push(fact.output);
    if (fact.what === "guarded" && fact.part !== undefined) this.#saidIn.set(fact.part, fact.text);
    if (fact.what === "result") {
      const { call, error, result } = fact;
      const message = typeof result === "string" ? result : JSON.stringify(result);
      this.#came(call, error ? { ok: false, code: "refused", message } : { ok: true, value: result });
    }
    if (fact.what === "guarded") {
      const { validator, direction, text } = fact;
      this.guards.push({ validator, direction, turn });
      // Nobody hears what a validator took away.
      const last = this.texts.at(-1);
      if (direction === "output" && last !== undefined) this.texts[this.texts.length - 1] = { ...last, text };
    }
  }
}
