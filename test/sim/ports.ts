// The world's models and tools as a process of the product calls them, and a ledger of every call that left:
// nothing leaves that the journal does not know, and nothing that must not be repeated is repeated unasked.

import { canonical, type Json } from "../../src/base/json.ts";
import type { ModelAsk } from "../../src/core/facts.ts";
import type { Program } from "../../src/core/program.ts";
import type { Run } from "../../src/core/run.ts";
import type { RunPorts } from "../../src/engine/dispatcher.ts";
import type { CallContext } from "../../src/engine/ports.ts";
import type { Books } from "./books.ts";
import { claim } from "./claim.ts";
import { isBoundSafe, isSafe } from "./packs.ts";
import type { Owner, Scheduler } from "./scheduler.ts";
import type { Subject } from "./subject.ts";
import type { Fate, World } from "./world.ts";

export interface Caller extends Owner {
  /** Calls that have left and are not back, as `run/step`. */
  readonly flights: Set<string>;
  /** Whether this very process has closed the step, so that it must know. */
  readonly hasClosed: (id: string, step: number) => boolean;
  /** Whether this very process knows that somebody holds the run. */
  readonly holds: (id: string) => boolean;
  /** Whether the step was asked when the process had been told to stop. */
  readonly isTooLate: (id: string, step: number) => boolean;
}

export interface Surface {
  readonly subject: Subject;
  readonly scheduler: Scheduler;
  readonly world: World;
  readonly booksOf: (id: string) => Books | undefined;
  readonly programOf: (id: string) => Program;
  /** There is never more than one process, so that what is on the disk is what the caller goes by. */
  readonly isSole: boolean;
  readonly check: (check: () => void) => void;
  readonly fate: (id: string, step: number, fate: Fate | "late") => void;
}

export class Ports {
  readonly #surface: Surface;
  /** How often something may have happened, by `run/step`. */
  readonly #effects = new Map<string, number>();

  constructor(surface: Surface) {
    this.#surface = surface;
  }

  of(caller: Caller, id: string, run: Run): RunPorts {
    const { world, check, programOf, scheduler } = this.#surface;
    return {
      model: {
        call: (_request, context) => {
          check(() => this.#modelLeaves(caller, context));
          const ask = run.open[context.step]?.ask as ModelAsk;
          return this.#call(caller, "model", context, () => world.model(programOf(id), run, ask));
        },
      },
      tools: {
        knows: () => true,
        isSafe: isBoundSafe,
        call: (tool, args, context) => {
          check(() => this.#toolLeaves(caller, tool, args, context));
          return this.#call(caller, "tool", context, () => world.tool(scheduler.clockOf(caller), context));
        },
      },
    };
  }

  async #call<T>(caller: Caller, kind: string, context: CallContext, answer: () => T): Promise<T> {
    const { scheduler, world, fate: told } = this.#surface;
    const { run, step, key, signal } = context;
    const fate = world.fate();
    const isDeaf = fate !== "hangs" && world.isDeaf();
    caller.flights.add(key);
    told(run, step, fate);
    if (fate !== "later") this.#effects.set(key, (this.#effects.get(key) ?? 0) + 1);
    try {
      const readyAt = fate === "hangs" ? Infinity : scheduler.clockOf(caller) + world.latencyMs();
      await scheduler.pause(caller, `${kind} called`, { readyAt, ...(!isDeaf && { signal }) });
      if (signal.aborted) told(run, step, "late");
      if (signal.aborted && !isDeaf) throw new Error("aborted");
      return this.#outcome(fate, answer);
    } finally {
      caller.flights.delete(key);
    }
  }

  #outcome<T>(fate: Fate, answer: () => T): T {
    const { world, subject } = this.#surface;
    if (fate === "answers") return answer();
    if (fate === "breaks") throw new Error("it fell apart");
    const afterMs = world.afterMs();
    const retry = fate === "hangs" ? "never" : fate;
    throw new subject.Fault("unavailable", "not now", { retry, ...(afterMs !== undefined && { afterMs }) });
  }

  #modelLeaves(caller: Caller, context: CallContext): void {
    const { booksOf } = this.#surface;
    const ask = booksOf(context.run)?.asks.get(context.step);
    claim(ask?.kind === "model", "G3: a model is called that the journal does not ask");
    this.#leaves(caller, context, ask.nth);
  }

  #toolLeaves(caller: Caller, tool: string, args: Json, context: CallContext): void {
    const { booksOf, programOf, isSole } = this.#surface;
    const { run, step, key } = context;
    const books = booksOf(run);
    const ask = books?.asks.get(step);
    claim(books !== undefined && ask?.kind === "tool", "G3: a call leaves that the journal does not know");
    claim(ask.tool === tool && canonical(ask.args) === canonical(args), "G11: another call leaves");
    this.#leaves(caller, context, ask.nth);
    const open = books.open.get(step);
    if (isSole && open !== undefined) {
      claim(same(context.handle, open.handle), "a call that goes on has lost its handle");
      claim(same(context.input, open.input), "a call that goes on has not got its input");
    }
    if (isSafe(programOf(run), tool)) return;
    if (books.lookers.has(step)) return;
    claim(books.sent.has(step), "S46: a call leaves that may not be repeated, and nobody knows");
    const before = this.#effects.get(key) ?? 0;
    claim(before <= (books.again.get(step) ?? 0), `G4: ${tool} is repeated unasked`);
  }

  #leaves(caller: Caller, { run, step, key, nth, signal }: CallContext, expected: number): void {
    claim(key === `${run}/${step}`, "G4: a call leaves under another key");
    claim(nth === expected, "a call leaves as another one of its kind");
    claim(!signal.aborted, "a call leaves that is given up already");
    claim(!caller.isTooLate(run, step), `${caller.name} makes call ${key}, though it was told to stop`);
    claim(!caller.holds(run), `${caller.name} makes call ${key}, though its run is held`);
    claim(!caller.hasClosed(run, step), `G5: ${caller.name} makes call ${key}, whose step is closed`);
  }
}

const same = (a: Json | undefined, b: Json | undefined): boolean =>
  a === undefined || b === undefined ? a === b : canonical(a) === canonical(b);
