// Where the journals stand that this process has read or written last. A guess: a commit that goes on from it
// is taken only if it is still so.

import type { Position } from "./turn-columns.ts";

export interface Head extends Position {
  /** The run's number. */
  readonly run: string;
  /** Bytes of the journal that its newest snapshot stands for, and of that snapshot. */
  readonly covers: number;
  readonly snapshot: number;
}

const HEADS_MAX = 10_000;

export class HeadMemory {
  readonly #heads = new Map<string, Head>();

  get(name: string, turn: number): Head | undefined {
    const head = this.#heads.get(name);
    return head?.turn === turn ? head : undefined;
  }

  put(name: string, head: Head): void {
    // Put last again: the one that was not used for longest is the first to be forgotten.
    this.#heads.delete(name);
    this.#heads.set(name, head);
    const [oldest] = this.#heads.keys();
    if (this.#heads.size > HEADS_MAX && oldest !== undefined) this.#heads.delete(oldest);
  }

  forget(name: string): void {
    this.#heads.delete(name);
  }
}
