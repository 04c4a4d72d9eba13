// Runs programs: the door and the dispatcher over one store.

import { must } from "../base/assert.ts";
import { apply } from "../core/apply.ts";
import type { TurnRow } from "../core/facts.ts";
import type { Input, StartInput } from "../core/input.ts";
import type { Program } from "../core/program.ts";
import { isAtWork, type Run } from "../core/run.ts";
import { defaultRetry, type RetryPolicy } from "./backoff.ts";
import { Dispatcher, type RunPorts } from "./dispatcher.ts";
import { Door, type SubmitTerms, type Submitted } from "./door.ts";
import { type ForkPlan, type ForkRequest, planFork } from "./fork.ts";
import type { EngineObserver } from "./observer.ts";
import { type Clock, type Delta, Fault, type RunCreation, type Store, type TraceHeaders } from "./ports.ts";
import type { Redaction } from "./redaction.ts";
import { isAway, SharedDriver } from "./shared-driver.ts";
import type { Slots } from "./slots.ts";
import { storeClock } from "./store-clock.ts";
import { incomingTrace } from "./trace-context.ts";

export interface EngineOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** The model and tools of a run, from what it was started with. */
  readonly portsOf: (id: string, run: Run) => Promise<RunPorts>;
  /** An answer from people to a run that just began to wait; for scripts. */
  readonly peopleOf?: (id: string, run: Run) => Promise<Input | undefined>;
  readonly retry?: RetryPolicy;
  /** What must not get into a journal. */
  readonly redaction?: Redaction | undefined;
  /** Takes inputs but performs nothing, save that runs hear of each other. */
  readonly idle?: boolean;
  readonly slots?: Slots | undefined;
  /** Where the store is shared: how many runs it has at most when it takes up others' (see `drive`). */
  readonly takes?: number | undefined;
  readonly onTurn?: (id: string, row: TurnRow, run: Run) => void;
  /** Streamed text of a model's answer to a step, as it comes; not journaled. */
  readonly onDelta?: (delta: Delta) => void;
  /** Something that no adapter may throw went wrong with a run; it stays as it is until it is resumed. */
  readonly onFailed?: (id: string, error: unknown) => void;
  /** Told what happens when it happens. */
  readonly observer?: EngineObserver | undefined;
  /** Closed with the engine, before its store. */
  readonly closing?: AsyncDisposable;
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

/** How often a run that another process drives is looked at. */
const LOOK_MS = 250;

/** Turns a follower reads at once. */
const FOLLOW_PAGE = 500;

export class Engine implements AsyncDisposable {
  readonly store: Store;
  readonly #options: EngineOptions;
  readonly #door: Door;
  readonly #dispatcher: Dispatcher;
  readonly #changed = new Map<string, Set<() => void>>();
  /** Where the store is shared: what keeps our runs ours. */
  readonly #driver: SharedDriver | undefined;
  readonly #clock: Clock;
  #broken: unknown;
  #paused = false;

  constructor(options: EngineOptions) {
    this.store = options.store;
    this.#options = options;
    const { shared } = options.store;
    const clock = shared === undefined ? options.clock : storeClock(options.clock, shared);
    this.#clock = clock;
    options.observer?.began(clock.now(), shared !== undefined);
    this.#door = new Door(options.store, (id, row, run) => this.#committed(id, row, run), options);
    this.#dispatcher = new Dispatcher({
      door: this.#door,
      store: options.store,
      clock,
      portsOf: options.portsOf,
      retry: options.retry ?? defaultRetry,
      redaction: options.redaction,
      observer: options.observer,
      idle: options.idle === true,
      shared,
      slots: options.slots,
      ...(options.onDelta !== undefined && { onDelta: options.onDelta }),
      failed: (id, error) => this.#failed(id, error),
    });
    if (shared !== undefined && options.idle !== true)
      this.#driver = new SharedDriver({
        ...{ engine: this, shared, clock, runs: options.takes ?? 0 },
        failed: (error) => options.onFailed?.("", error),
      });
  }

  /** Takes up runs that have nobody, where the store is shared. */
  async drive(): Promise<void> {
    await this.#driver?.start();
  }

  async start(request: StartRequest): Promise<Submitted> {
    const { id, program, digest, source, input, key, setup } = request;
    await this.drive();
    await this.#door.putProgram(digest, program, source);
    const create: RunCreation = {
      digest,
      packId: program.id,
      packVersion: program.version,
      setup,
      ...(key !== undefined && { key }),
    };
    const at = this.#clock.now();
    return this.#door.submit(id, { ...input, type: "start", digest, at }, { create, trace: this.#trace() });
  }

  /** A new run from a turn of another; what is open there becomes work of the new one (S52). */
  async fork(request: ForkRequest): Promise<Submitted> {
    const { id, from, setup, pack, key } = request;
    await this.drive();
    const plan = await planFork(this.store, this.#cleaned(request), this.#clock.now());
    if (plan.kind === "refused") return plan;
    if (pack !== undefined) await this.#door.putProgram(pack.digest, pack.program, pack.source);
    const { program } = plan;
    const { row, run, watch } = this.#noted(id, plan);
    const create: RunCreation = {
      digest: run.digest,
      packId: program.id,
      packVersion: program.version,
      setup,
      ...(key !== undefined && { key }),
    };
    const began = performance.now();
    const made = await this.store.fork({ from: from.run, turn: from.turn, run: id, row, after: run, create });
    if (!made)
      throw new Error(`run ${id} could not be made: there is one of that name, or its origin is gone`);
    watch?.committed({ row, run, tookMs: performance.now() - began });
    this.#committed(id, row, run);
    if (this.#options.idle !== true) this.#dispatcher.takeOver(id, run);
    return { kind: "done", run, row };
  }

  /** The first turn of a fork with what whoever watches wants to find in it. */
  #noted(id: string, plan: Extract<ForkPlan, { kind: "planned" }>) {
    const { row, run, program } = plan;
    const { at, facts } = row;
    const planned = { id, before: undefined, after: run, facts, at, program, trace: this.#trace() };
    const watch = this.#options.observer?.turn(planned);
    if (watch?.note === undefined) return { row, run, watch };
    return { row: { ...row, facts: [...facts, watch.note] }, run: apply(run, watch.note), watch };
  }

  /** A fork's edits do not pass the door. */
  #cleaned(request: ForkRequest): ForkRequest {
    const { redaction } = this.#options;
    if (redaction === undefined) return request;
    const { artifacts, answers } = request;
    return {
      ...request,
      ...(artifacts !== undefined && { artifacts: redaction.json(artifacts) }),
      ...(answers !== undefined && { answers: redaction.json(answers) }),
    };
  }

  /** The one way in for everything after the start. */
  submit(id: string, input: Input, terms: Pick<SubmitTerms, "ifTurn"> = {}): Promise<Submitted> {
    // The sender's clock may be another machine's.
    const at = () => (this.store.shared === undefined ? input.at : this.#clock.now());
    const take = () => this.#door.submit(id, { ...input, at: at() }, { ...terms, trace: this.#trace() });
    return this.#driver === undefined ? take() : this.#driver.start().then(take);
  }

  /** The trace that the caller is in. What the engine does by itself later is in that of its run. */
  #trace(): TraceHeaders | undefined {
    return this.#options.observer?.active() ?? incomingTrace.getStore();
  }

  load(id: string): Promise<Run | undefined> {
    return this.#door.load(id);
  }

  program(digest: string): Promise<Program> {
    return this.#door.program(digest);
  }

  /** Takes up a run that another process left. One that another process has is only looked at. */
  async resume(id: string): Promise<Run | undefined> {
    await this.drive();
    await this.store.shared?.claimOne(id);
    this.#door.forget(id);
    const run = await this.#door.latest(id);
    if (run !== undefined && !hasWork(run)) this.#unwatched(id);
    // A run that has ended may still owe its caller the news, or its agents the end.
    if (run === undefined || (run.final !== null && Object.keys(run.open).length === 0)) return run;
    await this.#dispatcher.recover(id, run);
    const now = await this.#door.load(id);
    if (now !== undefined && !hasWork(now)) this.#waits(id, now);
    return this.#door.load(id);
  }

  /** Another process has taken the run. */
  drop(id: string): void {
    this.#dispatcher.drop(id);
    this.#door.forget(id);
    this.#unwatched(id);
    this.#announce(id);
  }

  /** Something of the run is under way here. */
  isBusy(id: string): boolean {
    return this.#dispatcher.isBusy(id);
  }

  #unwatched(id: string): void {
    this.#options.observer?.dropped(id, this.#clock.now());
  }

  /** Another process has moved a run: who waits for it looks again. */
  heard(id: string | undefined): void {
    if (id !== undefined) this.#announce(id);
    else for (const one of [...this.#changed.keys()]) this.#announce(one);
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
      const people = asksPeople(run) ? await this.#options.peopleOf?.(id, run) : undefined;
      if ((!hasWork(run) && people === undefined) || this.#paused) return run;
      await changed;
    }
  }

  /** Turns from `from` on, as they come, until the run has settled as in `settled`. */
  async *follow(id: string, from = 1): AsyncGenerator<TurnRow, void, undefined> {
    for (let next = from; ; ) {
      const changed = this.#nextChange(id);
      const rows = await this.store.rows(id, { from: next, to: Number.MAX_SAFE_INTEGER, limit: FOLLOW_PAGE });
      yield* rows;
      next += rows.length;
      if (rows.length > 0) continue;
      if (this.#broken !== undefined) throw this.#broken;
      const run = await this.#door.load(id);
      if (run === undefined || this.#paused || (!hasWork(run) && run.turn < next)) return;
      if (run.turn < next) await changed;
    }
  }

  /**
   * Stops claiming work, lets calls finish within the grace, leaves the rest open. Nothing is journaled for
   * it.
   */
  async pause(graceMs: number): Promise<void> {
    this.#paused = true;
    this.#driver?.rest();
    await this.#dispatcher.stop(graceMs);
    await this.#driver?.stop();
    this.#options.observer?.stopped(this.#clock.now());
    for (const id of [...this.#changed.keys()]) this.#announce(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // S43: who cancels a run and leaves has cancelled its agents.
    if (this.#options.idle === true && !this.#paused) await this.#dispatcher.idle();
    await this.pause(0);
    await this.#options.closing?.[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }

  #committed(id: string, row: TurnRow, run: Run): void {
    this.#options.onTurn?.(id, row, run);
    // Whoever has the run goes on with what this turn asks.
    if (this.store.shared?.isOurs(id) === false) this.#unwatched(id);
    this.#dispatcher.committed(id, row, run);
    if (!hasWork(run)) this.#waits(id, run);
    this.#announce(id);
  }

  /** A script's people answer when the run waits for them. */
  #waits(id: string, run: Run): void {
    const { peopleOf } = this.#options;
    if (peopleOf === undefined || !asksPeople(run) || this.#paused) return;
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
    if (this.#driver !== undefined && isAway(error)) this.#driver.missed(id);
    else this.#broken = error;
    this.#options.onFailed?.(id, error);
    this.#announce(id);
  }

  /** Of a run that another process drives nobody tells us for sure: it is looked at now and then. */
  #nextChange(id: string): Promise<void> {
    const changed = new Promise<void>((resolve) => {
      const listeners = this.#changed.get(id) ?? new Set();
      listeners.add(resolve);
      this.#changed.set(id, listeners);
    });
    if (this.store.shared?.isOurs(id) !== false) return changed;
    const look = new AbortController();
    const looked = this.#clock.sleep(LOOK_MS, look.signal);
    return Promise.race([changed, looked]).finally(() => look.abort());
  }

  #announce(id: string): void {
    const listeners = this.#changed.get(id);
    this.#changed.delete(id);
    for (const listener of listeners ?? []) listener();
  }
}

const hasWork = (run: Run): boolean => run.final === null && isAtWork(run);

/** A script's people wait with a run that somebody holds. */
const asksPeople = (run: Run): boolean => run.final === null && run.held === undefined && !isAtWork(run);
