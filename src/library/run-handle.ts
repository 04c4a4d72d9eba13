// One run as a program holds it: look at it, follow it, talk to it.

import { must } from "../base/assert.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { Outcome, TurnRow } from "../core/facts.ts";
import type { Input } from "../core/input.ts";
import type { Run } from "../core/run.ts";
import { childrenOf, type Summary, summaryOf } from "../core/summary.ts";
import { rowsWithChildren, type TraceRow, traceOf } from "../core/trace.ts";
import type { Engine } from "../engine/engine.ts";
import { Refused } from "./refused.ts";

export interface By {
  /** Who says it; kept in the journal. */
  readonly by: string;
}

export interface EventOptions extends By {
  readonly context?: string;
  /** Written before the run moves. */
  readonly artifacts?: JsonObject;
  /** A second event with the same key is ignored. */
  readonly dedupeKey?: string;
}

export class RunHandle {
  readonly id: string;
  readonly #engine: Engine;

  constructor(engine: Engine, id: string) {
    this.#engine = engine;
    this.id = id;
  }

  /** How the run stands now. */
  async summary(): Promise<Summary> {
    return this.#summaryOf(await this.#load());
  }

  /** Resolves once the run has ended or waits for somebody outside; `status` says which. */
  async result(): Promise<Summary> {
    await this.#load();
    return this.#summaryOf(await this.#engine.settled(this.id));
  }

  /** The turns from `from` on, until the run has ended or waits. */
  follow(from = 1): AsyncGenerator<TurnRow, void, undefined> {
    return this.#engine.follow(this.id, from);
  }

  /** One row per transition (S36). */
  async trace(): Promise<readonly TraceRow[]> {
    const run = await this.#load();
    const rows = await this.#engine.store.rows(this.id, { from: 1, to: run.turn, limit: run.turn });
    return rowsWithChildren([...traceOf(rows)], childrenOf(this.id, run));
  }

  send(event: string, { by, context, artifacts, dedupeKey }: EventOptions): Promise<Summary> {
    return this.#submit({
      type: "event",
      at: Date.now(),
      name: event,
      by,
      ...(context !== undefined && { context }),
      ...(artifacts !== undefined && { artifacts }),
      ...(dedupeKey !== undefined && { dedupeKey }),
    });
  }

  say(text: string, { by }: By): Promise<Summary> {
    return this.#submit({ type: "message", at: Date.now(), text, by });
  }

  /** With `sha256`, only what the approver has seen; with `edit`, a new request with other arguments. */
  approve(
    step: number,
    options: By & { readonly sha256?: string; readonly edit?: Json; readonly comment?: string },
  ): Promise<Summary> {
    return this.#submit({ type: "approve", at: Date.now(), step, ...options });
  }

  reject(step: number, { by, reason = "" }: By & { readonly reason?: string }): Promise<Summary> {
    return this.#submit({ type: "reject", at: Date.now(), step, by, reason });
  }

  /** The outcome of a call from outside, or what a call asked a person for. */
  answer(step: number, outcome: Outcome, { by }: Partial<By> = {}): Promise<Summary> {
    return this.#submit({ type: "answer", at: Date.now(), step, outcome, ...(by !== undefined && { by }) });
  }

  /** Out of doubt: make the call again (S46). */
  retry(step: number, { by }: By): Promise<Summary> {
    return this.#submit({ type: "retry", at: Date.now(), step, by });
  }

  /** Out of doubt: end the run. */
  abort(step: number, { by }: By): Promise<Summary> {
    return this.#submit({ type: "abort", at: Date.now(), step, by });
  }

  cancel({ by, reason = "" }: By & { readonly reason?: string }): Promise<Summary> {
    return this.#submit({ type: "cancel", at: Date.now(), by, reason });
  }

  /** Nothing of the run leaves until `unpause`; what is out may come back. */
  pause({ by, reason }: By & { readonly reason?: string }): Promise<Summary> {
    return this.#submit({ type: "pause", at: Date.now(), by, ...(reason !== undefined && { reason }) });
  }

  unpause({ by }: By): Promise<Summary> {
    return this.#submit({ type: "unpause", at: Date.now(), by });
  }

  async #submit(input: Input): Promise<Summary> {
    const submitted = await this.#engine.submit(this.id, input);
    if (submitted.kind === "refused") throw new Refused(submitted.refusal);
    return this.#summaryOf(submitted.run);
  }

  async #load(): Promise<Run> {
    const run = await this.#engine.load(this.id);
    if (run === undefined) throw new Refused({ code: "unknown-run", run: this.id });
    return run;
  }

  async #summaryOf(run: Run): Promise<Summary> {
    const { id, version } = must(await this.#engine.program(run.digest), "a run's program is stored");
    return summaryOf(this.id, { id, version, digest: run.digest }, run);
  }
}
