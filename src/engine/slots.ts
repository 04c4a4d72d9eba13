// How many asks of a kind a process performs at the same time. Who finds no room waits in the order of
// coming.

import type { Ask } from "../core/facts.ts";

export type SlotLimits = Readonly<Partial<Record<Ask["kind"], number>>>;

export class Slots {
  readonly #limits: SlotLimits;
  readonly #taken = new Map<Ask["kind"], number>();
  readonly #waiting = new Map<Ask["kind"], (() => void)[]>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Performs it once there is room; not at all when it is given up before. */
  async within(kind: Ask["kind"], signal: AbortSignal, perform: () => Promise<void>): Promise<void> {
    const limit = this.#limits[kind];
    if (limit === undefined) return perform();
    await this.#enter(kind, limit, signal);
    try {
      if (!signal.aborted) await perform();
    } finally {
      this.#leave(kind);
    }
  }

  /** Waits without a place, so that others have it meanwhile, and comes back to where it was. */
  async aside(kind: Ask["kind"], signal: AbortSignal, wait: () => Promise<void>): Promise<void> {
    const limit = this.#limits[kind];
    if (limit === undefined) return wait();
    this.#leave(kind);
    await wait();
    await this.#enter(kind, limit, signal);
  }

  async #enter(kind: Ask["kind"], limit: number, signal: AbortSignal): Promise<void> {
    if ((this.#taken.get(kind) ?? 0) >= limit) await this.#room(kind, signal);
    else this.#take(kind);
  }

  /** Whoever leaves hands its place on, so that nobody slips in between. */
  #room(kind: Ask["kind"], signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve(this.#take(kind));
    return new Promise((resolve) => {
      const queue = this.#waiting.get(kind) ?? [];
      this.#waiting.set(kind, queue);
      const enter = () => resolve();
      queue.push(enter);
      signal.addEventListener("abort", () => {
        const place = queue.indexOf(enter);
        if (place < 0) return;
        queue.splice(place, 1);
        // It takes a place only to leave it.
        this.#take(kind);
        resolve();
      });
    });
  }

  #take(kind: Ask["kind"]): void {
    this.#taken.set(kind, (this.#taken.get(kind) ?? 0) + 1);
  }

  #leave(kind: Ask["kind"]): void {
    const next = this.#waiting.get(kind)?.shift();
    if (next === undefined) this.#taken.set(kind, (this.#taken.get(kind) ?? 1) - 1);
    else next();
  }
}
