// One process of the product: a door of its own on the shared store, and workers that perform open asks.
// It may die at any await; the next one takes up what the journal says is open.

import type { Ask, CallAsk, ModelAsk, Outcome, TurnRow } from "../../src/core/facts.ts";
import type { Input } from "../../src/core/input.ts";
import type { Program } from "../../src/core/program.ts";
import type { Run } from "../../src/core/run.ts";
import type { Door, Submitted } from "../../src/engine/door.ts";
import type { ForkRequest } from "../../src/engine/fork.ts";
import type { Commit, ForkCommit, RunCreation, Store } from "../../src/engine/ports.ts";
import { isSafe } from "./packs.ts";
import type { Owner, Scheduler } from "./scheduler.ts";
import type { Subject } from "./subject.ts";
import type { World } from "./world.ts";

export interface Surroundings {
  readonly subject: Subject;
  readonly scheduler: Scheduler;
  readonly store: Store;
  readonly world: World;
  readonly program: Program;
  readonly digest: string;
  /** A turn is on the disk; `input` is what the door was taking. */
  readonly committed: (commit: Commit, input: Input) => void;
  readonly forked: (fork: ForkCommit, request: ForkRequest) => void;
  readonly conflict: () => void;
  readonly submitted: (by: Process, id: string, input: Input, answer: Submitted, turnBefore: number) => void;
  readonly turnOf: (id: string) => number;
  /** The door shows a run to somebody. */
  readonly seen: (id: string, run: Run) => void;
  readonly failed: (error: unknown) => void;
}

/** Agents of agents end here. */
const DEPTH_MAX = 2;

export class Process implements Owner {
  readonly name: string;
  readonly skewMs: number;
  alive = true;
  readonly #around: Surroundings;
  readonly #store: Store;
  readonly #door: Door;
  /** What is being forked, by the name of the new run. */
  readonly #forking = new Map<string, ForkRequest>();
  /** What each run's queue in the door holds, in order: the first is the one being taken. */
  readonly #taking = new Map<string, Input[]>();
  readonly #active = new Set<string>();

  constructor(name: string, skewMs: number, around: Surroundings) {
    this.name = name;
    this.skewMs = skewMs;
    this.#around = around;
    this.#store = this.#slowStore();
    this.#door = new around.subject.Door(this.#store, (id, row, run) => this.#perform(id, row, run));
  }

  get now(): number {
    return this.#around.scheduler.clockOf(this);
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
    const answer = this.#door.submit(id, input, create);
    const taken = () => void taking.shift();
    answer.then(taken, taken);
    const submitted = await answer;
    this.#around.submitted(this, id, input, submitted, turnBefore);
    return submitted;
  }

  /** Makes a run that goes on from the middle of another (S52); says why not. */
  async fork(request: ForkRequest): Promise<string> {
    const { id, from, setup } = request;
    const plan = await this.#around.subject.planFork(this.#store, request, this.now);
    if (plan.kind === "refused") return plan.refusal.code;
    const { program, row, run: after } = plan;
    const create = { digest: after.digest, packId: program.id, packVersion: program.version, setup };
    this.#forking.set(id, request);
    await this.#store.fork({ from: from.run, turn: from.turn, run: id, row, after, create });
    await this.recover([id]);
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
      for (const [key, { ask, hold }] of Object.entries(run.open)) {
        const step = Number(key);
        if (hold !== null || this.#active.has(`${id}/${step}`)) continue;
        if (ask.kind === "tool" && !isSafe(ask.tool)) {
          this.background(this.submit(id, { type: "hold", at: this.now, step, hold: "in_doubt" }));
        } else this.#begin(id, step, ask, run);
      }
    }
  }

  /** Something under way that nobody waits for. */
  background(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#around.failed(error));
  }

  /** Every call of the store may be slow, and the process may die before and after it. */
  #slowStore(): Store {
    const { scheduler, store } = this.#around;
    return new Proxy(store, {
      get: (target, key: keyof Store & string) => {
        const method = target[key] as (...args: unknown[]) => Promise<unknown>;
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

  #written(key: "commit" | "fork", what: unknown, done: boolean): void {
    const { committed, conflict, forked } = this.#around;
    if (!done) return conflict();
    const { run } = what as Commit | ForkCommit;
    if (key === "commit") return committed(what as Commit, this.#taking.get(run)?.[0] as Input);
    return forked(what as ForkCommit, this.#forking.get(run) as ForkRequest);
  }

  #perform(id: string, row: TurnRow, run: Run): void {
    for (const fact of row.facts) {
      const step =
        fact.type === "asked" || (fact.type === "noted" && fact.what === "retried") ? fact.step : 0;
      const open = run.open[step];
      if (open !== undefined && open.hold === null) this.#begin(id, step, open.ask, run);
    }
  }

  #begin(id: string, step: number, ask: Ask, run: Run): void {
    const key = `${id}/${step}`;
    if (this.#active.has(key)) return;
    this.#active.add(key);
    this.background(this.#answer(id, step, ask, run).finally(() => this.#active.delete(key)));
  }

  async #answer(id: string, step: number, ask: Ask, run: Run): Promise<void> {
    switch (ask.kind) {
      case "model":
        return this.#model(id, step, ask, run);
      case "tool":
        return this.#tool(id, step, ask);
      case "agent":
        return this.#agent(id, step, ask);
      case "timer":
        await this.#around.scheduler.pause(this, "timer", ask.due);
        return this.#done(id, step);
      case "reply":
        await this.submit(ask.to.run, {
          type: "answer",
          at: this.now,
          step: ask.to.step,
          outcome: ask.outcome,
        });
        return this.#done(id, step);
      case "stop":
        await this.submit(`${id}/${ask.child}`, { type: "cancel", at: this.now, by: id, reason: "" });
        return this.#done(id, step);
      default:
        return undefined;
    }
  }

  async #done(id: string, step: number): Promise<void> {
    await this.submit(id, { type: "answer", at: this.now, step, outcome: { ok: true, value: null } });
  }

  async #model(id: string, step: number, ask: ModelAsk, run: Run): Promise<void> {
    const { scheduler, world, program } = this.#around;
    await scheduler.pause(this, "model about to be called");
    const outcome = world.model(program, run, ask);
    await scheduler.pause(this, "model called");
    await this.submit(id, { type: "answer", at: this.now, step, outcome });
  }

  async #tool(id: string, step: number, ask: CallAsk): Promise<void> {
    const { scheduler, world } = this.#around;
    await scheduler.pause(this, "tool about to be called");
    const outcome = world.tool(ask);
    await scheduler.pause(this, "tool called");
    if (outcome === "deferred") await this.submit(id, { type: "hold", at: this.now, step, hold: "deferred" });
    else await this.submit(id, { type: "answer", at: this.now, step, outcome, tool: ask.tool });
  }

  /** A child run whose end answers the ask (S42); beyond the depth an error does. */
  async #agent(id: string, step: number, ask: CallAsk): Promise<void> {
    const { program, scheduler } = this.#around;
    await scheduler.pause(this, "agent about to be started");
    if (id.split("/").length > DEPTH_MAX) {
      const outcome: Outcome = { ok: false, code: "depth", message: "too deep" };
      await this.submit(id, { type: "answer", at: this.now, step, outcome, tool: ask.tool });
      return;
    }
    const state = program.agents?.members[ask.tool]?.state ?? null;
    await this.start(
      `${id}/${step}`,
      {
        type: "start",
        at: this.now,
        digest: this.#around.digest,
        mode: "autonomous",
        variables: {},
        input: "help",
        parent: { run: id, step },
        ...(state === null ? { prompt: ask.tool } : { state }),
      },
      program,
    );
  }
}
