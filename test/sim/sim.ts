// The simulator: one random program, a few processes on one store, a world that fails in every way the dice
// allow, and an audit of every turn. The same seed plays the same story.

import type { Fact, Parent } from "../../src/core/facts.ts";
import type { Input, StartInput } from "../../src/core/input.ts";
import type { Program } from "../../src/core/program.ts";
import { type OpenAsk, type Run, statusOf } from "../../src/core/run.ts";
import type { Submitted } from "../../src/engine/door.ts";
import type { MemoryDisk } from "../../src/store/memory.ts";
import { Audit } from "./audit.ts";
import { Dice } from "./dice.ts";
import { anyCut, anyEdit, editOf, owesStop } from "./edits.ts";
import { type Accident, cell, momentOf } from "./grid.ts";
import { anyProgram, isSafe, otherProgram, tighterLimits } from "./packs.ts";
import { People } from "./people.ts";
import { Ports } from "./ports.ts";
import { Process, type Surroundings } from "./process.ts";
import { drained, Scheduler } from "./scheduler.ts";
import { product, type Subject } from "./subject.ts";
import { type Weather, weatherOf } from "./weather.ts";
import { World } from "./world.ts";

export interface SimOptions {
  readonly subject?: Subject;
  /** Hears every step of the story. */
  readonly trace?: (line: string) => void;
  /** What is run; any program when nothing is said. */
  readonly programs?: (dice: Dice) => Program;
  /** Counts what happened, by name. */
  readonly coverage?: Map<string, number>;
}

/** Throws when something that must hold did not; the message begins with the seed. */
export async function simulate(seed: number, options: SimOptions = {}): Promise<void> {
  try {
    await new Simulation(seed, options).play();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}: ${message}`, { cause: error });
  }
}

const DIGEST = "sim";
const OTHER = "other";
const RUNS_MAX = 6;
const FORKS_MAX = 3;
/** Most steps of the last act, where only people and workers move. */
const LAST_ACT = 3_000;

class Simulation {
  readonly #dice: Dice;
  readonly #options: SimOptions;
  readonly #scheduler: Scheduler;
  readonly #world: World;
  readonly #people: People;
  readonly #program: Program;
  /** What forks may go on with. */
  readonly #other: Program;
  readonly #disk: MemoryDisk;
  readonly #audit: Audit;
  readonly #around: Surroundings;
  readonly #weather: Weather;
  #processes: Process[] = [];
  /** On their way out, taking nothing new. */
  #leaving: Process[] = [];
  #born = 0;
  #forks = 0;
  readonly #sent: { readonly id: string; readonly input: Input }[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(seed: number, options: SimOptions) {
    const dice = new Dice(seed);
    const subject = options.subject ?? product;
    this.#dice = dice;
    this.#options = options;
    this.#scheduler = new Scheduler(dice);
    this.#world = new World(dice);
    this.#people = new People(dice, this.#world);
    this.#program = (options.programs ?? anyProgram)(dice);
    this.#disk = new subject.MemoryDisk();
    this.#other = otherProgram(this.#program, dice);
    const programs = new Map([
      [DIGEST, this.#program],
      [OTHER, this.#other],
    ]);
    this.#audit = new Audit(subject, this.#disk, programs);
    this.#weather = weatherOf(dice);
    const ports = new Ports({
      subject,
      scheduler: this.#scheduler,
      world: this.#world,
      booksOf: (id) => this.#audit.booksOf(id),
      programOf: (id) => this.#audit.programOf(id),
      isSole: this.#weather.processes === 1,
      check: (check) => this.#guard(check),
      fate: (id, step, fate) => {
        const ask = this.#audit.booksOf(id)?.asks.get(step);
        if (ask !== undefined && fate !== "answers") this.#met(fate, id, { [step]: { ask, hold: null } });
      },
    });
    this.#around = {
      subject,
      scheduler: this.#scheduler,
      store: subject.memoryStore(this.#disk),
      ports,
      program: this.#program,
      digest: DIGEST,
      committed: (commit, input) =>
        this.#guard(() => {
          if (input.type === "cancel") this.#met("cancel", commit.run);
          this.#heard(commit.run, input, this.#audit.turn(commit.run, input, commit.after));
        }),
      forked: (fork, request) =>
        this.#guard(() => {
          const edit = editOf(request, fork.row.at);
          this.#heard(fork.run, edit, this.#audit.fork(fork, edit));
        }),
      conflict: (id) => this.#met("rival", id),
      submitted: (by, id, input, answer, before) =>
        this.#guard(() => this.#submitted(by, id, input, answer, before)),
      turnOf: (id) => this.#disk.runs.get(id)?.rows.length ?? 0,
      doubted: (id, step, looks) => this.#guard(() => this.#audit.doubt(id, step, looks)),
      seen: (id, run) => this.#guard(() => this.#audit.seen(id, run)),
      failed: (error) => void (this.#failure ??= { error }),
    };
  }

  async play(): Promise<void> {
    const { processes, ticks } = this.#weather;
    for (let left = processes; left > 0; left--) this.#boot();
    const roots = this.#dice.chance(0.2) ? ["r1", "r2"] : ["r1"];
    for (const id of roots) this.#start(id);
    for (let tick = 0; tick < ticks; tick++) {
      if (this.#dice.chance(0.1) && roots.length < RUNS_MAX && this.#isQuiet()) {
        roots.push(`r${roots.length + 1}`);
        this.#start(roots.at(-1) as string);
      }
      this.#tick();
      await drained();
      this.#check();
    }
    await this.#lastAct(roots);
    for (const id of this.#audit.ids) this.#audit.whole(id);
  }

  /** Every run is over, and only stragglers come. */
  #isQuiet(): boolean {
    return this.#audit.ids.every((id) => this.#audit.runOf(id).final !== null);
  }

  #tick(): void {
    const dice = this.#dice;
    const { people, resend, crash, pause, jump, fork, processes } = this.#weather;
    this.#scheduler.now += dice.below(300);
    while (this.#processes.length + this.#leaving.length < processes && dice.chance(0.2)) this.#boot();
    const action = dice.weighted({ step: 100, people, resend, crash, pause, jump, fork });
    switch (action) {
      case "people":
        return this.#someoneSpeaks();
      case "resend":
        return this.#resend();
      case "crash":
        return this.#crash();
      case "pause":
        return this.#pause();
      case "fork":
        return this.#fork();
      case "jump":
        this.#scheduler.now += dice.below(dice.chance(0.2) ? 90_000 : 20_000);
        for (const id of this.#audit.ids) this.#met("jump", id);
        return this.#say("the clock jumps");
      default:
        if (this.#scheduler.step() === undefined && !this.#scheduler.skip()) this.#someoneSpeaks();
    }
  }

  /** No more accidents. Everything must come to rest; then people bring it to an end. */
  async #lastAct(roots: readonly string[]): Promise<void> {
    this.#say("last act");
    this.#world.calm = true;
    for (const one of [...this.#processes, ...this.#leaving]) this.#kill(one);
    this.#boot();
    for (const id of roots) if (!this.#disk.runs.has(id)) this.#start(id);
    for (let left = LAST_ACT; left > 0; left--) {
      await drained();
      this.#check();
      this.#scheduler.now += 50;
      const isLate = left < LAST_ACT / 2;
      // Work that never ends is for people to end.
      if (isLate && left % 100 === 0) this.#cancelAll();
      if (this.#scheduler.step() !== undefined) continue;
      if (!this.#someoneHelps(isLate) && !this.#scheduler.skip()) break;
    }
    for (const id of this.#audit.ids) {
      const run = this.#audit.runOf(id);
      const open = Object.values(run.open).map(({ ask, hold }) => `${ask.kind}${hold ?? ""}`);
      if (run.final === null || open.length > 0)
        throw new Error(`${id} never ended: ${statusOf(run)}, open: ${open.join(" ")}`);
    }
  }

  /** Nothing is under way: whoever waits is helped, or in the end cancelled. False when all is over. */
  #someoneHelps(tired: boolean): boolean {
    const process = this.#dice.pick(this.#processes);
    let helped = false;
    for (const id of this.#audit.ids) {
      const run = this.#audit.runOf(id);
      if (run.final !== null) continue;
      this.#callerKnows(id, run);
      const waits = Object.values(run.open).some(
        ({ ask, later }) => ask.kind === "agent" || later?.wakes === true,
      );
      const input = this.#people.help({ program: this.#audit.programOf(id), run, at: process.now });
      if (input === undefined && !waits)
        throw new Error(`${id} is ${statusOf(run)}, but nothing is under way and nobody is asked`);
      if (input === undefined) continue;
      const cancel: Input = { type: "cancel", at: process.now, by: "ann", reason: "enough" };
      this.#send(process, id, tired || this.#dice.chance(0.2) ? cancel : input);
      helped = true;
    }
    return helped;
  }

  /** S43: an agent works for a caller who waits for it, and who waits with it when it waits for somebody. */
  #callerKnows(id: string, { parent, ...run }: Run): void {
    if (parent === null) return;
    const caller = this.#audit.runOf(parent.run);
    const call = caller.open[parent.step];
    if (call === undefined) throw new Error(`${id} goes on although ${parent.run} gave it up`);
    if ((caller.held !== undefined && run.held === undefined) || isHeldLonger(run, parent, caller))
      throw new Error(`${id} is not held and let go with ${parent.run}`);
    // One that is held looks after its agents when it is let go.
    if (statusOf({ parent, ...run }) === "waiting" && call.hold === null && caller.held === undefined)
      throw new Error(`${parent.run} does not know that ${id} waits`);
  }

  #cancelAll(): void {
    const process = this.#dice.pick(this.#processes);
    for (const id of this.#audit.ids) {
      if (this.#audit.runOf(id).final === null)
        this.#send(process, id, { type: "cancel", at: process.now, by: "ann", reason: "enough" });
    }
  }

  #boot(): void {
    const skewMs = this.#weather.processes > 1 ? this.#dice.between(-2_000, 2_000) : 0;
    const process = new Process(`p${++this.#born}`, skewMs, this.#around);
    this.#processes.push(process);
    this.#say(`${process.name} starts`);
    process.background(process.recover([...this.#disk.runs.keys()]));
  }

  #crash(): void {
    const alive = [...this.#processes, ...this.#leaving];
    if (alive.length === 0) return;
    const process = this.#dice.pick(alive);
    for (const id of this.#audit.ids) this.#met("crash", id);
    this.#kill(process);
  }

  /** Somebody stops a process in order; another one will take up what it leaves. */
  #pause(): void {
    const process = this.#anyProcess();
    if (process === undefined) return;
    const graceMs = this.#dice.pick([0, 0, 500, 5_000]);
    this.#say(`${process.name} is stopped within ${graceMs}`);
    for (const id of this.#audit.ids) this.#met("pause", id);
    this.#processes = this.#processes.filter((one) => one !== process);
    this.#leaving.push(process);
    process.background(
      process.stop(graceMs).then(() => {
        this.#saw("paused");
        this.#kill(process);
      }),
    );
  }

  #kill(process: Process): void {
    this.#processes = this.#processes.filter((one) => one !== process);
    this.#leaving = this.#leaving.filter((one) => one !== process);
    const lost = this.#scheduler.kill(process);
    this.#say(`${process.name} dies ${lost.join(", ")}`);
    for (const where of lost) this.#saw(`crash: ${where}`);
  }

  #start(id: string): void {
    const dice = this.#dice;
    if (this.#processes.length === 0) this.#boot();
    const process = dice.pick(this.#processes);
    const tools = Object.keys(this.#program.tools);
    const input: StartInput = {
      type: "start",
      at: process.now,
      digest: DIGEST,
      mode: dice.chance(0.25) ? "conversational" : "autonomous",
      variables: {},
      input: dice.chance(0.7) ? "the task" : "",
      ...(tools.length > 0 && dice.chance(0.5) && { gated: [dice.pick(tools), dice.pick(tools)] }),
      ...(dice.chance(0.15) && { limits: tighterLimits(this.#program, dice) }),
    };
    this.#say(`${process.name} starts ${id} of ${this.#program.id} ${input.mode}`);
    process.background(process.start(id, input, this.#program));
  }

  #someoneSpeaks(): void {
    const process = this.#anyProcess();
    const ids = this.#audit.ids;
    if (process === undefined || ids.length === 0) return undefined;
    const alive = ids.filter((one) => this.#audit.runOf(one).final === null);
    if (this.#dice.chance(0.1)) return process.background(process.look(this.#dice.pick(ids)));
    const known = this.#dice.pick(alive.length > 0 && this.#dice.chance(0.9) ? alive : ids);
    const id = this.#dice.chance(0.02) ? "nobody" : known;
    const sight = { program: this.#audit.programOf(id), run: this.#audit.runOf(id), at: process.now };
    return this.#send(process, id, this.#people.say(sight));
  }

  /** The network delivers something again: at once, late, or with the time it was first sent. */
  #resend(): void {
    const process = this.#anyProcess();
    if (process === undefined || this.#sent.length === 0) return;
    const recent = this.#sent.slice(-6);
    const { id, input } = this.#dice.pick(this.#dice.chance(0.6) ? recent : this.#sent);
    this.#saw(`again: ${input.type}`);
    this.#met("again", id);
    this.#send(process, id, this.#dice.chance(0.5) ? input : { ...input, at: process.now });
  }

  #send(process: Process, id: string, input: Input): void {
    this.#say(`${process.name} takes ${input.type} for ${id}: ${JSON.stringify(input)}`);
    process.background(process.submit(id, input));
  }

  /** Somebody tries another way from a turn of the past, with an edit or without. */
  #fork(): void {
    const dice = this.#dice;
    const process = this.#anyProcess();
    const ids = this.#audit.ids;
    if (process === undefined || ids.length === 0 || this.#forks >= FORKS_MAX) return;
    const children = ids.filter((id) => id.includes("/"));
    const owing = ids.filter((id) => this.#disk.runs.get(id)?.rows.some(owesStop) === true);
    const known = children.length > 0 && dice.chance(0.3) ? children : ids;
    const run = dice.pick(owing.length > 0 && dice.chance(0.4) ? owing : known);
    const rows = this.#disk.runs.get(run)?.rows ?? [];
    const turn = anyCut(dice, rows);
    const past = (this.#options.subject ?? product).fold(rows.slice(0, turn));
    const other = { program: this.#other, digest: OTHER, source: "" };
    const program = past.digest === OTHER ? this.#other : this.#program;
    const edit = anyEdit(dice, this.#world, { past, program, other });
    if (past.final === null) this.#met(edit.pack === undefined ? "fork" : "pack", run, past.open);
    const request = { id: `f${++this.#forks}`, from: { run, turn }, setup: {}, ...edit };
    this.#say(`${process.name} forks ${JSON.stringify(request)}`);
    process.background(process.fork(request).then((how) => this.#saw(`fork: ${how}`)));
  }

  #anyProcess(): Process | undefined {
    return this.#processes.length === 0 ? undefined : this.#dice.pick(this.#processes);
  }

  #heard(id: string, input: Input, facts: readonly Fact[]): void {
    // What a dispatcher says of its own calls comes by no network.
    if (input.type !== "hold" || input.hold !== "deferred") this.#sent.push({ id, input });
    this.#saw(`${input.type}: facts`);
    for (const fact of facts) {
      if (fact.type === "finished")
        this.#saw(`finished ${fact.status} ${fact.reason?.limit ?? ""}`.trimEnd());
      else if (fact.type === "asked") this.#saw(`asked ${fact.ask.kind}`);
      else if (fact.type === "noted") this.#saw(`noted ${fact.what}`);
      else if (fact.type === "entered" && fact.cause.kind === "event" && fact.cause.hops !== undefined)
        this.#saw("redirected");
    }
    this.#say(`  ${id} ${input.type}: ${facts.map((fact) => JSON.stringify(fact)).join("\n    ")}`);
  }

  #submitted(by: Process, id: string, input: Input, answer: Submitted, turnBefore: number): void {
    if (answer.kind === "done") return;
    this.#sent.push({ id, input });
    const code = answer.kind === "ignored" ? "ignored" : answer.refusal.code;
    this.#saw(`${input.type}: ${code}`);
    this.#say(`  ${by.name} ${id} ${input.type}: ${code}`);
    // When others wrote meanwhile, the reply was right at some moment that is not to be had again.
    if (turnBefore === this.#around.turnOf(id)) this.#audit.reply(id, input, code);
  }

  /** What fails inside a process must not be taken for a failing process. */
  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** An accident met what is open in a run. */
  #met(accident: Accident, id: string, open: Readonly<Record<number, OpenAsk>> = this.#audit.runOf(id).open) {
    if (this.#options.coverage === undefined) return;
    const flying = [...this.#processes, ...this.#leaving];
    for (const [step, one] of Object.entries(open)) {
      const called = flying.some(({ flights }) => flights.has(`${id}/${step}`));
      const tool = one.ask.kind === "tool" && isSafe(this.#program, one.ask.tool);
      this.#saw(cell(momentOf(one, { isSafe: tool, called }), accident));
    }
  }

  #saw(what: string): void {
    const { coverage } = this.#options;
    coverage?.set(what, (coverage.get(what) ?? 0) + 1);
  }

  #say(line: string): void {
    this.#options.trace?.(`${this.#scheduler.now} ${line}`);
  }
}

/** Its caller, with whom it was held, is held no more. */
const isHeldLonger = ({ held }: Pick<Run, "held">, { run }: Parent, caller: Run): boolean =>
  held?.by === run && caller.held === undefined;
