// Time and concurrency by dice. Everything that waits, waits here: a continuation is parked until the
// simulator picks it, so any order of events can happen, and the same seed makes the same order again.

import type { Dice } from "./dice.ts";

/** One process of the product. What it has parked dies with it. */
export interface Owner {
  readonly name: string;
  alive: boolean;
  /** Clocks of two machines differ. */
  readonly skewMs: number;
}

interface Parked {
  readonly owner: Owner;
  readonly where: string;
  /** By the owner's clock. */
  readonly readyAt: number;
  readonly resume: () => void;
}

interface Waiting {
  /** By the owner's clock; at once unless told. */
  readonly readyAt?: number;
  /** Ends the wait before its time. */
  readonly signal?: AbortSignal;
}

export class Scheduler {
  now = 1_000_000;
  readonly #dice: Dice;
  #parked: Parked[] = [];

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  clockOf(owner: Owner): number {
    return this.now + owner.skewMs;
  }

  pause(owner: Owner, where: string, { readyAt = 0, signal }: Waiting = {}): Promise<void> {
    // What a dead process does never comes back.
    if (!owner.alive) return new Promise(() => undefined);
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resume) => {
      const parked = { owner, where, readyAt, resume };
      this.#parked.push(parked);
      signal?.addEventListener("abort", () => {
        const index = this.#parked.indexOf(parked);
        if (index === -1) return;
        this.#parked.splice(index, 1);
        resume();
      });
    });
  }

  /** Where a process waits. */
  placesOf(owner: Owner): readonly string[] {
    return this.#parked.filter((one) => one.owner === owner).map(({ where }) => where);
  }

  /** Kills a process: whatever it was waiting for, it will never hear. Says where it was. */
  kill(owner: Owner): readonly string[] {
    owner.alive = false;
    const lost = this.placesOf(owner);
    this.#parked = this.#parked.filter((one) => one.owner !== owner);
    return lost;
  }

  /** Lets one waiting thing go on; says which, or undefined when nothing can go on yet. */
  step(): string | undefined {
    const ready: number[] = [];
    for (const [index, { owner, readyAt }] of this.#parked.entries())
      if (readyAt <= this.clockOf(owner)) ready.push(index);
    if (ready.length === 0) return undefined;
    const index = this.#dice.pick(ready);
    const { owner, where, resume } = this.#parked[index] as Parked;
    this.#parked[index] = this.#parked.at(-1) as Parked;
    this.#parked.pop();
    resume();
    return `${owner.name} ${where}`;
  }

  /** Jumps to the next time something wakes up; false when nothing ever will. */
  skip(): boolean {
    const times = this.#parked.map(({ owner, readyAt }) => readyAt - owner.skewMs);
    const next = Math.min(...times);
    if (next === Infinity) return false;
    this.now = Math.max(this.now, next);
    return true;
  }
}

/** Every continuation that can run has run and is parked again. */
export const drained = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
