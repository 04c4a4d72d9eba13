// Time that passes only when nothing else happens: as long as promises resolve by themselves it stands still,
// then it jumps to the next moment that somebody sleeps for.

import { setImmediate as whenIdle } from "node:timers/promises";
import type { Clock } from "../../src/engine/ports.ts";

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

export class VirtualTime implements Clock {
  #now = 1_700_000_000_000;
  readonly #sleepers = new Set<Sleeper>();

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const sleeper: Sleeper = {
        at: this.#now + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal.removeEventListener("abort", sleeper.wake);
          resolve();
        },
      };
      signal.addEventListener("abort", sleeper.wake);
      this.#sleepers.add(sleeper);
    });
  }

  /** Lets time pass until it is so; fails when it is not after that long. */
  async until(isSo: () => boolean, mostMs: number): Promise<void> {
    for (const end = this.#now + mostMs; ; ) {
      await whenIdle();
      if (isSo()) return;
      let next: Sleeper | undefined;
      for (const sleeper of this.#sleepers) if (next === undefined || sleeper.at < next.at) next = sleeper;
      if (next === undefined || next.at > end) throw new Error("nothing more happens");
      this.#now = Math.max(this.#now, next.at);
      next.wake();
    }
  }
}
