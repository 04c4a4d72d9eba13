// Stretches of a journal around turns that were looked at before everything was read. One request brings one:
// the run as it stood before, and the turns from there on.

import { Journal } from "./journal.ts";
import type { Around } from "./source.ts";

/** Stretches kept; the oldest goes first. */
const KEPT = 4;

export class Nearby {
  readonly #around: (turn: number | undefined) => Promise<Around> | undefined;
  readonly #came: (near: Journal) => void;
  #known: readonly Journal[] = [];
  #wanted = 0;
  /** Requests under way, one for each turn. */
  readonly #asked = new Map<number | undefined, Promise<Journal | undefined>>();

  constructor(
    around: (turn: number | undefined) => Promise<Around> | undefined,
    came: (near: Journal) => void,
  ) {
    this.#around = around;
    this.#came = came;
  }

  /**
   * Undefined when it could not be had, or another turn was asked for meanwhile: whoever moves quickly wants
   * only the last. The whole journal has it later.
   */
  async at(turn: number): Promise<Journal | undefined> {
    this.#wanted = turn;
    while (this.#find(turn) === undefined && this.#asked.size > 0) {
      // What is under way may bring it.
      await Promise.all(this.#asked.values());
      if (this.#wanted !== turn) return this.#find(turn);
    }
    return this.#find(turn) ?? (await this.fetch(turn));
  }

  #find(turn: number): Journal | undefined {
    return this.#known.find((near) => near.has(turn));
  }

  /** With its answer, where that is here. */
  withStep(step: number): Journal | undefined {
    const having = this.#known.filter((near) => near.step(step) !== undefined);
    return having.find((near) => near.step(step)?.answered !== null) ?? having[0];
  }

  /** Around the last turn when none is given. */
  fetch(turn: number | undefined): Promise<Journal | undefined> {
    const asked = this.#asked.get(turn) ?? this.#load(turn).finally(() => this.#asked.delete(turn));
    this.#asked.set(turn, asked);
    return asked;
  }

  async #load(turn: number | undefined): Promise<Journal | undefined> {
    const around = await this.#around(turn)?.catch(() => undefined);
    if (around === undefined) return undefined;
    const near = new Journal(around.base);
    for (const row of around.rows) near.add(row);
    this.#known = [near, ...this.#known].slice(0, KEPT);
    this.#came(near);
    return near;
  }
}
