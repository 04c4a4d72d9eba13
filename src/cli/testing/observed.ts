// What a run did, read back from its journal for judging: its way, what was called and how that ended, what
// was said, which validators fired.

import type { Json } from "../../base/json.ts";
import type { Ask, ModelReply, Noted, Outcome, TurnRow } from "../../core/facts.ts";
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
  const { calls, texts, guards } = reader;
  return { program, run, trace: [...traceOf(rows)], calls, texts, guards };
}

type OpenCall = { -readonly [K in keyof ObservedCall]: ObservedCall[K] };

class JournalReader {
  readonly calls: OpenCall[] = [];
  readonly texts: ObservedText[] = [];
  readonly guards: ObservedGuard[] = [];
  /** By the model's name for the call; a name used again means the later one. */
  readonly #callsById = new Map<string, OpenCall>();
  readonly #asks = new Map<number, Ask>();
  #state = "";

  take({ turn, facts }: TurnRow): void {
    for (const fact of facts) {
      if (fact.type === "entered") this.#state = fact.state;
      else if (fact.type === "asked") this.#asks.set(fact.step, fact.ask);
      else if (fact.type === "noted") this.#noted(fact, turn);
      else if (fact.type === "answered") {
        const ask = this.#asks.get(fact.step);
        if (ask?.kind === "model" && fact.outcome.ok)
          this.#said(fact.outcome.value as unknown as ModelReply, turn);
        else if (ask?.kind === "tool" || ask?.kind === "agent") this.#came(ask.call, fact.outcome);
        // What is approved is asked as a call of its own.
        else if (ask?.kind === "approval" && !fact.outcome.ok) this.#came(ask.call, fact.outcome);
      }
    }
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

  #noted(fact: Noted, turn: number): void {
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
