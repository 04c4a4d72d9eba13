// Runs programs: the door and the dispatcher over one store.

import { must } from "../base/assert.ts";
import type { TurnRow } from "../core/facts.ts";
import type { Input, StartInput } from "../core/input.ts";
import type { Program } from "../core/program.ts";
import { isPerformed, type Run } from "../core/run.ts";
import { defaultRetry, type RetryPolicy } from "./backoff.ts";
import { Dispatcher, type RunPorts } from "./dispatcher.ts";
import { Door, type Submitted } from "./door.ts";
import { type ForkRequest, planFork } from "./fork.ts";
import { type Clock, Fault, type RunCreation, type Store } from "./ports.ts";

export interface EngineOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** The model and tools of a run, from what it was started with. */
  readonly portsOf: (id: string, run: Run) => Promise<RunPorts>;
  /** An answer from people to a run that just began to wait; for scripts. */
  readonly peopleOf?: (id: string, run: Run) => Promise<Input | undefined>;
  readonly retry?: RetryPolicy;
  /** Takes inputs but performs nothing. */
  readonly idle?: boolean;
  readonly onTurn?: (id: string, row: TurnRow, run: Run) => void;
}

export interface StartRequest {
  readonly id: string;
  readonly program: Program;
  readonly digest: string;
  readonly source: string;
  readonly input: Omit<StartInput, "type" | "at" | "digest">;
  readonly key?: string;
  readonly setup: RunCreation["setup"];
}

export class Engine implements AsyncDisposable {
  readonly store: Store;
  readonly #options: EngineOptions;
  readonly #door: Door;
  readonly #dispatcher: Dispatcher;
  readonly #changed = new Map<string, Set<() => void>>();
  #broken: unknown;
  #paused = false;

  constructor(options: EngineOptions) {
    this.store = options.store;
    this.#options = options;
    this.#door = new Door(options.store, (id, row, run) => this.#committed(id, row, run));
    this.#dispatcher = new Dispatcher({
      door: this.#door,
      clock: options.clock,
      portsOf: options.portsOf,
      retry: options.retry ?? defaultRetry,
      failed: (id, error) => this.#failed(id, error),
    });
  }

  async start(request: StartRequest): Promise<Submitted> {
    const { id, program, digest, source, input, key, setup } = request;
    await this.#door.putProgram(digest, program, source);
    const create: RunCreation = {
      digest,
      packId: program.id,
      packVersion: program.version,
      setup,
      ...(key !== undefined && { key }),
    };
    return this.#door.submit(id, { ...input, type: "start", digest, at: this.#options.clock.now() }, create);
  }

  /** A new run from a turn of another; what is open there becomes work of the new one (S52). */
  async fork(request: ForkRequest): Promise<Submitted> {
    const { id, from, setup, pack } = request;
    const plan = await planFork(this.store, request, this.#options.clock.now());
    if (plan.kind === "refused") return plan;
    if (pack !== undefined) await this.#door.putProgram(pack.digest, pack.program, pack.source);
    const { row, run, program } = plan;
    const create: RunCreation = {
      digest: run.digest,
      packId: program.id,
      packVersion: program.version,
      setup,
    };
    const made = await this.store.fork({ from: from.run, turn: from.turn, run: id, row, after: run, create });
    if (!made)
      throw new Error(`run ${id} could not be made: there is one of that name, or its origin is gone`);
    this.#committed(id, row, run);
    if (this.#options.idle !== true) this.#dispatcher.takeOver(id, run);
    return { kind: "done", run, row };
  }

  /** The one way in for everything after the start. */
  submit(id: string, input: Input): Promise<Submitted> {
    return this.#door.submit(id, input);
  }

  load(id: string): Promise<Run | undefined> {
    return this.#door.load(id);
  }

  program(digest: string): Promise<Program> {
    return this.#door.program(digest);
  }

  /** Takes up a run that another process left. */
  async resume(id: string): Promise<Run | undefined> {
    this.#door.forget(id);
    const run = await this.#door.load(id);
    if (run === undefined || run.final !== null) return run;
    await this.#dispatcher.recover(id, run);
    const now = await this.#door.load(id);
    if (now !== undefined && !hasWork(now)) this.#waits(id, now);
    return this.#door.load(id);
  }

  /**
   * Resolves with the run once it is final or only somebody outside can move it, or when the engine is
   * paused.
   */
  async settled(id: string): Promise<Run> {
    for (;;) {
      // Registered before looking: a turn committed while we look must not be missed.
      const changed = this.#nextChange(id);
      if (this.#broken !== undefined) throw this.#broken;
      const run = must(await this.#door.load(id), "a run that is waited for exists");
      const people = hasWork(run) || run.final !== null ? undefined : await this.#options.peopleOf?.(id, run);
      if ((!hasWork(run) && people === undefined) || this.#paused) return run;
      await changed;
    }
  }

  /**
   * Stops claiming work, lets calls finish within the grace, leaves the rest open. Nothing is journaled for
   * it.
   */
  async pause(graceMs: number): Promise<void> {
    this.#paused = true;
    await this.#dispatcher.stop(graceMs);
    for (const id of [...this.#changed.keys()]) this.#announce(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pause(0);
    await this.store[Symbol.asyncDispose]();
  }

  #committed(id: string, row: TurnRow, run: Run): void {
    this.#options.onTurn?.(id, row, run);
    if (this.#options.idle !== true) this.#dispatcher.committed(id, row, run);
    if (!hasWork(run)) this.#waits(id, run);
    this.#announce(id);
  }

  /** A script's people answer when the run waits for them. */
  #waits(id: string, run: Run): void {
    const { peopleOf } = this.#options;
    if (peopleOf === undefined || run.final !== null || this.#paused) return;
    peopleOf(id, run)
      .then(async (input) => {
        const submitted = input === undefined ? undefined : await this.#door.submit(id, input);
        if (submitted?.kind !== "refused") return;
        // Nobody else would hear of it, and the run would wait for ever for the same wrong answer.
        const what = input?.type === "event" ? `event \`${input.name}\`` : "answer";
        const message = `the script's ${what} is not allowed in \`${run.state ?? ""}\` (${submitted.refusal.code})`;
        throw new Fault("script_refused", message, { retry: "never" });
      })
      .catch((error: unknown) => this.#failed(id, error));
  }

  #failed(id: string, error: unknown): void {
    this.#broken = error;
    this.#announce(id);
  }

  #nextChange(id: string): Promise<void> {
    return new Promise((resolve) => {
      const listeners = this.#changed.get(id) ?? new Set();
      listeners.add(resolve);
      this.#changed.set(id, listeners);
    });
  }

  #announce(id: string): void {
    const listeners = this.#changed.get(id);
    this.#changed.delete(id);
    for (const listener of listeners ?? []) listener();
  }
}

const hasWork = (run: Run): boolean => run.final === null && Object.values(run.open).some(isPerformed);
