// Turns that other processes commit to a shared store. Who follows a run is woken for them as for our own,
// only a moment later: at news from the store, and otherwise by one look now and then at all runs that matter
// here.

import type { Clock } from "../engine/ports.ts";
import type { StoreNews } from "./watched-store.ts";

export interface ForeignTurnsOptions {
  readonly shared: StoreNews;
  readonly clock: Clock;
  /** Runs that somebody follows here. */
  readonly followed: () => Iterable<string>;
  /** The run has got so far. May be told twice. */
  readonly moved: (run: string, turn: number) => void;
  /** The store could not be asked; it will be again. */
  readonly failed: (error: unknown) => void;
}

/** How late a turn of another process may be seen. */
const LOOK_MS = 250;

/** However many news there are, it looks no more often than this. */
const PAUSE_MS = 20;

/** Runs of others at work that are watched though nobody follows them: for whoever hears of all runs. */
const WATCHED_MAX = 5_000;

export class ForeignTurns {
  readonly #options: ForeignTurnsOptions;
  /** The newest turns that were told. */
  readonly #told = new Map<string, number>();
  /** Heard of, and perhaps at work. */
  readonly #watched = new Set<string>();
  #wake: (() => void) | undefined;

  constructor(options: ForeignTurnsOptions) {
    this.#options = options;
  }

  /** A turn of our own needs not be told again. */
  own(run: string, turn: number): void {
    if (this.#told.has(run)) this.#told.set(run, turn);
  }

  /** Until aborted. */
  async watch(signal: AbortSignal): Promise<void> {
    const { shared, clock, failed } = this.#options;
    const deaf = shared.listen((run) => {
      if (run !== undefined && this.#watched.size < WATCHED_MAX) this.#watched.add(run);
      this.#wake?.();
    });
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      try {
        await this.#look();
      } catch (error) {
        failed(error);
      }
      await clock.sleep(PAUSE_MS, signal);
      const rest = new AbortController();
      await Promise.race([woken, clock.sleep(LOOK_MS, AbortSignal.any([rest.signal, signal]))]);
      rest.abort();
    }
    deaf();
  }

  async #look(): Promise<void> {
    const followed = new Set(this.#options.followed());
    const asked = [...new Set([...followed, ...this.#watched])];
    for (const run of this.#told.keys())
      if (!followed.has(run) && !this.#watched.has(run)) this.#told.delete(run);
    if (asked.length === 0) return;
    const found = await this.#options.shared.standing(asked);
    for (const run of asked) {
      const standing = found.get(run);
      if (standing?.work !== true) this.#watched.delete(run);
      // One that is gone is to be looked at, too: who follows it is told so.
      const turn = standing?.turn ?? Number.POSITIVE_INFINITY;
      if ((this.#told.get(run) ?? 0) >= turn) continue;
      this.#told.set(run, turn);
      this.#options.moved(run, standing?.turn ?? 0);
    }
  }
}
