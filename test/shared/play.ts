// One seed: several engines on one shared store, in virtual time. They die or stand still at any moment, miss news;
// people speak to whichever engine they find. Every run must end as it would have alone, and no engine may
// perform what another has.

import { fold } from "../../src/core/apply.ts";
import type { Input } from "../../src/core/input.ts";
import type { Engine as ProductEngine } from "../../src/engine/engine.ts";
import type { CallContext, Store } from "../../src/engine/ports.ts";
import { digestOf } from "../../src/pack/link.ts";
import { openPack } from "../../src/pack/open-pack.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { Dice } from "../sim/dice.ts";
import { SharedDisk, SharedMemory } from "./shared-memory.ts";
import { replyOf, sharedPack } from "./shared-pack.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface SharedSubject {
  readonly Engine: typeof ProductEngine;
}

const RUNS = 4;
const MOST_MS = 600_000;
/** The longest that a call of the store takes. */
const SLOW_MS = 80;
/** So long that others have taken what it had. */
const STOPPED_MS = 12_000;

export async function play(seed: number, { Engine }: SharedSubject): Promise<void> {
  const world = new World(seed, Engine);
  await world.play();
}

class World {
  readonly #dice: Dice;
  readonly #time = new VirtualTime();
  readonly #disk = new SharedDisk();
  readonly #store = memoryStore();
  readonly #processes: Process[] = [];
  readonly #Engine: typeof ProductEngine;
  readonly #wrong: string[] = [];
  /** Calls that left from a process while another drove their run. */
  readonly #strangers = new Set<string>();
  /** Calls that never end by themselves. */
  readonly #endless = new Set<{ readonly key: string; readonly process: Process }>();
  #deaths = 0;
  #isEnded = false;
  #made = 0;

  constructor(seed: number, engine: typeof ProductEngine) {
    this.#dice = new Dice(seed);
    this.#Engine = engine;
  }

  async play(): Promise<void> {
    const opened = openPack(sharedPack, { file: "shared.yaml" });
    if (!opened.ok) throw opened.toError();
    const { program } = opened;
    const ids = Array.from({ length: RUNS }, (_, index) => `r${index}`);
    for (let count = 0; count < 2; count++) this.#begin();
    this.#begin("idle");
    const input = { mode: "autonomous", variables: {}, input: "" } as const;
    const terms = { program, digest: digestOf(program), source: "", setup: {}, input };
    const start = (id: string) => this.#background(this.#any().engine.start({ id, ...terms }));
    for (const id of ids) start(id);
    void this.#accidents();
    void this.#people(ids, start);
    const isOver = () => this.#wrong.length > 0 || ids.every((id) => this.#disk.ended.has(id));
    await this.#time.until(isOver, MOST_MS).catch((error: unknown) => this.#wrong.push(String(error)));
    // Whoever was told of nothing has looked by then, also who stands still once more meanwhile.
    const ended = this.#time.now();
    const over = () => Math.max(ended, ...this.#processes.map((one) => one.stoppedUntil)) + 3_000;
    await this.#time.until(() => this.#wrong.length > 0 || this.#time.now() > over(), MOST_MS);
    this.#isEnded = true;
    for (const id of ids) await this.#check(id);
    if (this.#wrong.length > 0) throw new Error(this.#wrong[0]);
  }

  /** One that is idle takes what people say and performs nothing. */
  #begin(idle?: "idle"): void {
    const process = new Process(`p${++this.#made}`, idle === "idle");
    const shared = new SharedMemory({
      ...{ id: process.name, disk: this.#disk, store: this.#store, now: () => this.#time.now() },
      tells: () => !process.isDead && this.#dice.chance(0.7),
    });
    const store = this.#slow(process, shared);
    process.engine = new this.#Engine({
      ...{ store, clock: process.clockOf(this.#time), takes: 8, idle: process.isIdle },
      portsOf: async () => this.#ports(process),
      onFailed: (id, error) => {
        if (!process.isDead) this.#wrong.push(`${process.name} failed at ${id}: ${String(error)}`);
      },
    });
    this.#processes.push(process);
    this.#background(process.engine.drive());
  }

  /** Every call of the store takes a while, and never ends for who is dead. */
  #slow(process: Process, shared: SharedMemory): Store {
    const slowly = (key: string | symbol, value: unknown, of: object) => {
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        await this.#pause(process);
        const result: unknown = await Reflect.apply(value, of, args);
        if (process.stops && key === "commit") process.stop(this.#time.now() + STOPPED_MS);
        await this.#pause(process);
        return result;
      };
    };
    const journals: object = shared.journals;
    const slowShared = new Proxy(shared, {
      get: (target, key) => {
        const value = Reflect.get(target, key, target) as unknown;
        if (key === "isOurs" || key === "listen" || key === "now")
          return (value as () => unknown).bind(target);
        return slowly(key, value, target);
      },
    });
    return new Proxy(this.#store, {
      get: (target, key) => {
        if (key === "shared") return slowShared;
        const of = key in journals ? journals : target;
        return slowly(key, Reflect.get(of, key, of), of);
      },
    });
  }

  async #pause(process: Process): Promise<void> {
    if (process.isDead) return forever();
    await this.#time.sleep(this.#dice.below(SLOW_MS / 2), never);
    await process.goesOn(this.#time);
  }

  #ports(process: Process) {
    const leave = async (context: CallContext) => {
      const { run, step, signal, key } = context;
      if (process.isDead) return forever();
      const driver = this.#disk.driver.get(run);
      const isAlive = this.#processes.some(({ name, isDead }) => name === driver && !isDead);
      const isStrange = (driver !== process.name && isAlive) || (await this.#isAnswered(context));
      if (isStrange && !signal.aborted) this.#strangers.add(key);
      await this.#time.sleep(20 + this.#dice.below(400), signal);
      await process.goesOn(this.#time);
      if (signal.aborted) throw new Error(`given up ${step}`);
    };
    return {
      model: {
        call: async (_: unknown, context: CallContext) => {
          await leave(context);
          return replyOf(context);
        },
      },
      tools: {
        knows: () => true,
        isSafe: (tool: string) => tool === "look",
        call: async (tool: string, _args: unknown, context: CallContext) => {
          await leave(context);
          if (tool === "endless") await this.#endlessly(process, context);
          if (process.isDead) return forever();
          return { ok: true as const, value: tool };
        },
      },
    };
  }

  /** By a process: what people answer is not known everywhere at once. */
  async #isAnswered({ run, step }: CallContext): Promise<boolean> {
    const rows = await this.#store.rows(run, { from: 1, to: 1_000, limit: 1_000 });
    return rows.some(({ facts }) =>
      facts.some((fact) => fact.type === "answered" && fact.step === step && fact.by === undefined),
    );
  }

  async #endlessly(process: Process, { key, signal }: CallContext): Promise<void> {
    const call = { key, process };
    this.#endless.add(call);
    await this.#time.sleep(MOST_MS * 10, signal);
    this.#endless.delete(call);
  }

  /** Processes die and others begin, or stand still for longer than they are waited for; one always lives. */
  async #accidents(): Promise<void> {
    for (let count = this.#dice.below(5); count > 0 && !this.#isEnded; count--) {
      await this.#time.sleep(this.#dice.below(4_000), never);
      const victim = this.#dice.pick(this.#processes.filter(({ isDead, isIdle }) => !isDead && !isIdle));
      this.#deaths++;
      if (this.#dice.chance(0.4)) {
        victim.stops = true;
        this.#begin();
        continue;
      }
      victim.isDead = true;
      this.#disk.listeners.delete(victim.name);
      this.#begin();
    }
  }

  /** Answers, retries and events, said to any process that lives; some of them twice or to no purpose. */
  async #people(ids: readonly string[], start: (id: string) => void): Promise<void> {
    while (!this.#isEnded) {
      await this.#time.sleep(100 + this.#dice.below(700), never);
      // Not waited for: the process may die while it is asked.
      this.#background(this.#visit(this.#dice.pick(ids), start));
    }
  }

  async #visit(id: string, start: (id: string) => void): Promise<void> {
    const process = this.#any();
    const { engine, name } = process;
    // Who stands still answers nobody, and looks around first when it goes on.
    await process.goesOn(this.#time);
    const isOurs = () => engine.store.shared?.isOurs(id) === true;
    const couldBe = isOurs();
    await this.#time.sleep(SLOW_MS, never);
    if (process.stoppedUntil > this.#time.now()) return;
    // Who has not driven a run for a moment has no reason to know it from before.
    const durable = couldBe || isOurs() ? 0 : (this.#disk.turn.get(id) ?? 0);
    const run = await engine.load(id);
    // Who was to start it died.
    if (run === undefined) return start(id);
    if (run.turn < durable) this.#wrong.push(`${name} shows ${id} as of turn ${run.turn} of ${durable}`);
    const input = this.#wish(run);
    if (input !== undefined) await engine.submit(id, input);
  }

  #wish(run: ReturnType<typeof fold>): Input | undefined {
    const terms = { at: this.#time.now(), by: "somebody" };
    if (run.final !== null) return undefined;
    for (const [step, { ask, hold }] of Object.entries(run.open)) {
      const about = { ...terms, step: Number(step) };
      if (hold === "in_doubt") return { type: "retry", ...about };
      if (ask.kind === "tool" && ask.tool === "endless" && hold === null)
        return { type: "answer", ...about, outcome: { ok: true, value: "endless" } };
      if (ask.kind === "event") return { type: "event", ...terms, name: "Go" };
    }
    return undefined;
  }

  async #check(id: string): Promise<void> {
    const rows = await this.#store.rows(id, { from: 1, to: 1_000, limit: 1_000 });
    const states = rows.flatMap(({ facts }) =>
      facts.flatMap((fact) => (fact.type === "entered" ? fact.state : [])),
    );
    if (this.#wrong.length === 0 && states.join() !== "work,gate,rest,end")
      this.#wrong.push(`${id} went ${states}`);
    const strangers = [...this.#strangers].filter((key) => key.startsWith(`${id}/`));
    const doubts = rows.flatMap(({ facts }) =>
      facts.flatMap((fact) => (fact.type === "noted" && fact.what === "in_doubt" ? fact.step : [])),
    );
    for (const step of new Set(doubts))
      if (doubts.filter((one) => one === step).length > this.#deaths)
        this.#wrong.push(`step ${step} of ${id} is put in doubt more often than somebody died`);
    for (const { key, process } of this.#endless)
      if (key.startsWith(`${id}/`) && !process.isDead)
        this.#wrong.push(`${key} goes on, and nobody waits for it`);
    if (strangers.length > 0) this.#wrong.push(`${strangers} left from a process that does not drive ${id}`);
  }

  #any(): Process {
    return this.#dice.pick(this.#processes.filter(({ isDead }) => !isDead));
  }

  /** Nobody waits for it; who died never ends it. */
  #background(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#wrong.push(String(error)));
  }
}

class Process {
  readonly name: string;
  readonly isIdle: boolean;
  engine: ProductEngine = undefined as never;
  isDead = false;
  /** At its next turn, after it is written and before it is known here: what it asks has not left then. */
  stops = false;
  stoppedUntil = 0;

  constructor(name: string, isIdle: boolean) {
    this.name = name;
    this.isIdle = isIdle;
  }

  stop(until: number): void {
    this.stops = false;
    this.stoppedUntil = until;
  }

  /** Never for who is dead; who stands still comes later. */
  async goesOn(time: VirtualTime): Promise<void> {
    const left = this.stoppedUntil - time.now();
    if (left > 0) await time.sleep(left, never);
    if (this.isDead) await forever();
  }

  clockOf(time: VirtualTime) {
    return {
      now: () => time.now(),
      sleep: async (ms: number, signal: AbortSignal) => {
        await time.sleep(ms, signal);
        await this.goesOn(time);
      },
    };
  }
}

const never = new AbortController().signal;

const forever = (): Promise<never> => new Promise(() => undefined);
