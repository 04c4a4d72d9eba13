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
    if ((this.#taken.get(kind) ?? 0) >= limit) await this.#room(kind, signal);
    else this.#taken.set(kind, (this.#taken.get(kind) ?? 0) + 1);
    try {
      if (!signal.aborted) await perform();
    } finally {
      this.#leave(kind);
    }
  }

  /** Whoever leaves hands its place on, so that nobody slips in between. */
  #room(kind: Ask["kind"], signal: AbortSignal): Promise<void> {
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
        this.#taken.set(kind, (this.#taken.get(kind) ?? 0) + 1);
        resolve();
      });
    });
  }

  #leave(kind: Ask["kind"]): void {
    const next = this.#waiting.get(kind)?.shift();
    if (next === undefined) this.#taken.set(kind, (this.#taken.get(kind) ?? 1) - 1);
    else next();
  }
}
