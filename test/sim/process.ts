// One process of the product: a door and a dispatcher of its own on the shared store. It may die at any
// await; the next one takes up what the journal says is open. Agents, which the product does not run yet, are
// child runs started here.

import type { TurnRow } from "../../src/core/facts.ts";
import type { Input } from "../../src/core/input.ts";
import type { Program } from "../../src/core/program.ts";
import type { Run } from "../../src/core/run.ts";
import type { Dispatcher } from "../../src/engine/dispatcher.ts";
import type { Door, SubmitTerms, Submitted } from "../../src/engine/door.ts";
import type { ForkRequest } from "../../src/engine/fork.ts";
import type { Clock, Commit, ForkCommit, RunCreation, Store } from "../../src/engine/ports.ts";
import type { Caller, Ports } from "./ports.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Subject } from "./subject.ts";

export interface Surroundings {
  readonly subject: Subject;
  readonly scheduler: Scheduler;
  readonly store: Store;
  readonly ports: Ports;
  /** What runs are started with. */
  readonly program: Program;
  readonly digest: string;
  /** A turn is on the disk; `input` is what the door was taking. */
  readonly committed: (commit: Commit, input: Input) => void;
  readonly forked: (fork: ForkCommit, request: ForkRequest) => void;
  readonly conflict: (run: string) => void;
  readonly submitted: (by: Process, id: string, input: Input, answer: Submitted, turnBefore: number) => void;
  readonly turnOf: (id: string) => number;
  /** A dispatcher puts a call in doubt. */
  readonly doubted: (id: string, step: number, looks: boolean) => void;
  /** The door shows a run to somebody. */
  readonly seen: (id: string, run: Run) => void;
  readonly failed: (error: unknown) => void;
}

/** Agents of agents end here. */
const DEPTH_MAX = 2;
const RETRY = { attempts: 3, firstMs: 200, mostMs: 5_000 };

export class Process implements Caller {
  readonly name: string;
  readonly skewMs: number;
  readonly flights = new Set<string>();
  alive = true;
  readonly #around: Surroundings;
  readonly #store: Store;
  readonly #door: Door;
  readonly #dispatcher: Dispatcher;
  /** Steps this process has closed, and runs it has ended. */
  readonly #closed = new Set<string>();
  /** Steps that were asked when it had been told to stop. */
  readonly #late = new Set<string>();
  #isStopping = false;
  /** Runs as this process last found or left them. */
  readonly #heard = new Map<string, Run>();
  /** What is being forked, by the name of the new run. */
  readonly #forking = new Map<string, ForkRequest>();
  /** What each run's queue in the door holds, in order: the first is the one being taken. */
  readonly #taking = new Map<string, Input[]>();
  /** Turns that a rival committed first, as `run@turn`: to try one again is to have learned nothing. */
  readonly #overtaken = new Set<string>();

  constructor(name: string, skewMs: number, around: Surroundings) {
    const { subject, scheduler, ports } = around;
    this.name = name;
    this.skewMs = skewMs;
    this.#around = around;
    this.#store = this.#slowStore();
    this.#door = new subject.Door(this.#store, (id, row, run) => this.#committed(id, row, run));
    this.#dispatcher = new subject.Dispatcher({
      door: this.#watchedDoor(),
      store: this.#store,
      clock: this.#clock(),
      depth: DEPTH_MAX,
      portsOf: async (id, run) => {
        await scheduler.pause(this, "ports");
        return ports.of(this, id, run);
      },
      retry: RETRY,
      failed: (_id, error) => around.failed(error),
    });
  }

  get now(): number {
    return this.#around.scheduler.clockOf(this);
  }

  isTooLate(id: string, step: number): boolean {
    return this.#late.has(`${id}/${step}`);
  }

  holds(id: string): boolean {
    return this.#heard.get(id)?.held !== undefined;
  }

  hasClosed(id: string, step: number): boolean {
    return this.#closed.has(`${id}!`) || this.#closed.has(`${id}/${step}`);
  }

  async start(id: string, input: Input, program: Program): Promise<void> {
    const { digest } = this.#around;
    await this.#door.putProgram(digest, program, "");
    await this.submit(id, input, { digest, packId: program.id, packVersion: program.version, setup: {} });
  }

  async submit(id: string, input: Input, create?: RunCreation): Promise<Submitted> {
    const turnBefore = this.#around.turnOf(id);
    const taking = this.#taking.get(id) ?? [];
    this.#taking.set(id, taking);
    taking.push(input);
    const answer = this.#door.submit(id, input, create === undefined ? {} : { create });
    const taken = () => void taking.shift();
    answer.then(taken, taken);
    const submitted = await answer;
    this.#around.submitted(this, id, input, submitted, turnBefore);
    return submitted;
  }

  /** Makes a run that goes on from the middle of another (S52); says why not. */
  async fork(request: ForkRequest): Promise<string> {
    const { id, from, setup, pack } = request;
    const plan = await this.#around.subject.planFork(this.#store, request, this.now);
    if (plan.kind === "refused") return plan.refusal.code;
    if (pack !== undefined) await this.#door.putProgram(pack.digest, pack.program, pack.source);
    const { program, row, run: after } = plan;
    const create = { digest: after.digest, packId: program.id, packVersion: program.version, setup };
    this.#forking.set(id, request);
    await this.#store.fork({ from: from.run, turn: from.turn, run: id, row, after, create });
    // A slow store may let a later turn of the new run be heard of first.
    const now = this.#heard.get(id);
    if (now === undefined) this.#committed(id, row, after);
    this.#dispatcher.takeOver(id, now ?? after);
    return "done";
  }

  /** Somebody looks at a run. */
  async look(id: string): Promise<void> {
    const run = await this.#door.load(id);
    if (run !== undefined) this.#around.seen(id, run);
  }

  /** Takes up everything that is open in the store, as after a restart. */
  async recover(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const turnBefore = this.#around.turnOf(id);
      this.#door.forget(id);
      const run = await this.#door.load(id);
      if (run === undefined) continue;
      if (run.turn < turnBefore)
        throw new Error(`${id}: a new process reads turn ${run.turn} of ${turnBefore}`);
      // A slow store may let a later turn of this very process be heard of first.
      const heard = this.#heard.get(id);
      const now = heard !== undefined && heard.turn > run.turn ? heard : run;
      this.#heard.set(id, now);
      await this.#dispatcher.recover(id, now);
    }
  }

  /** Ends the process in order: what can be finished within the grace is finished, the rest left open. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    await this.#dispatcher.stop(graceMs);
    const left = this.#around.scheduler.placesOf(this).filter((where) => /called|asleep|ports/.test(where));
    if (left.length > 0) throw new Error(`${this.name} stopped, but goes on: ${left.join(", ")}`);
  }

  /** Something under way that nobody waits for. */
  background(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#around.failed(error));
  }

  #clock(): Clock {
    const { scheduler } = this.#around;
    return {
      now: () => this.now,
      // As with Node's own timers, some sleeps end a moment early.
      sleep: (ms, signal) =>
        scheduler.pause(this, "asleep", {
          readyAt: this.now + ms - (ms > 1 && ms % 3 === 0 ? 1 : 0),
          signal,
        }),
    };
  }

  /** Every call of the store may be slow, and the process may die before and after it. */
  #slowStore(): Store {
    const { scheduler, store } = this.#around;
    return new Proxy(store, {
      get: (target, key: keyof Store & string) => {
        const method = target[key] as ((...args: unknown[]) => Promise<unknown>) | undefined;
        if (method === undefined) return undefined;
        return async (...args: unknown[]) => {
          await scheduler.pause(this, `before ${key}`);
          const result = await method.apply(target, args);
          if (key === "commit" || key === "fork") this.#written(key, args[0], result === true);
          await scheduler.pause(this, `after ${key}`);
          return result;
        };
      },
    });
  }

  /** What the dispatcher submits is heard like everything else. */
  #watchedDoor(): Door {
    return new Proxy(this.#door, {
      get: (target, key: "submit" | "load" | "latest" | "program") =>
        key === "submit" ? this.#dispatched.bind(this) : target[key].bind(target),
    });
  }

  #dispatched(id: string, input: Input, { create }: SubmitTerms = {}): Promise<Submitted> {
    if (input.type === "hold" && input.hold === "in_doubt") {
      const looks = this.#heard.get(id)?.open[input.step]?.later?.looks === true;
      this.#around.doubted(id, input.step, looks);
    }
    return this.submit(id, input, create);
  }

  #written(key: "commit" | "fork", what: unknown, done: boolean): void {
    const { committed, conflict, failed, forked } = this.#around;
    const { run, row } = what as Commit | ForkCommit;
    if (!done) {
      const turn = `${run}@${row.turn}`;
      if (this.#overtaken.has(turn)) failed(new Error(`${turn} is committed again by ${this.name}`));
      this.#overtaken.add(turn);
      return conflict(run);
    }
    if (key === "commit") return committed(what as Commit, this.#taking.get(run)?.[0] as Input);
    return forked(what as ForkCommit, this.#forking.get(run) as ForkRequest);
  }

  #committed(id: string, row: TurnRow, run: Run): void {
    this.#heard.set(id, run);
    for (const fact of row.facts) {
      if (fact.type === "asked" && this.#isStopping) this.#late.add(`${id}/${fact.step}`);
      if (fact.type === "answered") this.#closed.add(`${id}/${fact.step}`);
      else if (fact.type === "finished") this.#closed.add(`${id}!`);
    }
    this.#dispatcher.committed(id, row, run);
  }
}
