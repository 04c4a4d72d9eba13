// Tells followers that something happened. It holds no turns: those are in the journal, and each follower
// reads them at its own pace, so a slow one holds nobody. Streamed text passes through and may be lost.

import type { TurnRow } from "../core/facts.ts";
import type { Delta } from "../engine/ports.ts";
import { Problem } from "./problem.ts";

export interface FeedLimits {
  readonly perRun: number;
  readonly inAll: number;
}

const FEED_LIMITS: FeedLimits = { perRun: 100, inAll: 1_000 };

/** Characters of text that wait for a follower. */
const DELTA_CHARS_MAX = 256_000;
/** A follower that was up to date and is now so far behind is sent away, to come back with its own place. */
const BEHIND = { events: 1_000, bytes: 1_000_000 } as const;

export class Feed {
  readonly #limits: FeedLimits;
  readonly #byRun = new Map<string, Set<Reader<Delta>>>();
  readonly #ofAll = new Set<Reader<never>>();
  #count = 0;
  #closed = false;

  constructor(limits: FeedLimits = FEED_LIMITS) {
    this.#limits = limits;
  }

  turn(run: string, row: TurnRow): void {
    const readers = this.#byRun.get(run);
    this.#tellCallers(run);
    if (readers === undefined && this.#ofAll.size === 0) return;
    const bytes = JSON.stringify(row.facts).length;
    for (const reader of readers ?? []) reader.missed(bytes);
    for (const reader of this.#ofAll) reader.missed(bytes);
    for (const reader of readers ?? []) reader.wake();
  }

  /** Of `a/3/7` they are `a/3` and `a`. */
  #tellCallers(run: string): void {
    if (this.#byRun.size === 0) return;
    for (let at = run.lastIndexOf("/"); at > 0; at = run.lastIndexOf("/", at - 1))
      for (const reader of this.#byRun.get(run.slice(0, at)) ?? []) if (reader.hearsAgents) reader.wake();
  }

  /** Runs that somebody follows. */
  get followed(): Iterable<string> {
    return this.#byRun.keys();
  }

  /** Another process has moved the run: who follows it looks. */
  look(run: string): void {
    for (const reader of this.#byRun.get(run) ?? []) reader.wake();
  }

  /** Turns have got their places in the order of all. */
  placed(): void {
    for (const reader of this.#ofAll) reader.wake();
  }

  delta(delta: Delta): void {
    for (const reader of this.#byRun.get(delta.run) ?? []) reader.add(delta, delta.text.length);
  }

  /** A follower of one run; with `agents` also woken when a run of its agents moves. */
  follow(run: string, { agents = false }: { readonly agents?: boolean } = {}): Reader<Delta> {
    const readers = this.#byRun.get(run) ?? new Set<Reader<Delta>>();
    if (readers.size >= this.#limits.perRun) throw tooMany(`run \`${run}\` has`, this.#limits.perRun);
    const reader = new Reader<Delta>(DELTA_CHARS_MAX, () => {
      readers.delete(reader);
      if (readers.size === 0) this.#byRun.delete(run);
      this.#count--;
    });
    reader.hearsAgents = agents;
    this.#enter(reader);
    readers.add(reader);
    this.#byRun.set(run, readers);
    return reader;
  }

  /** A follower of all runs. */
  followAll(): Reader<never> {
    const reader = new Reader<never>(0, () => {
      this.#ofAll.delete(reader);
      this.#count--;
    });
    this.#enter(reader);
    this.#ofAll.add(reader);
    return reader;
  }

  /** Ends every follower; they come back to whoever serves next. */
  close(): void {
    this.#closed = true;
    for (const readers of this.#byRun.values()) for (const reader of readers) reader.stop();
    for (const reader of this.#ofAll) reader.stop();
  }

  get readers(): number {
    return this.#count;
  }

  #enter(reader: Pick<Reader<unknown>, "stop">): void {
    if (this.#count >= this.#limits.inAll) throw tooMany("there are", this.#limits.inAll);
    this.#count++;
    if (this.#closed) reader.stop();
  }
}

const tooMany = (what: string, most: number): Problem =>
  new Problem("too-many-readers", `${what} ${most} followers already (try again later)`, {
    headers: { "retry-after": "5" },
    extras: { limit: most },
  });

/** One follower: what waits for it, and whether something has happened since it last looked. */
export class Reader<T> {
  readonly #most: number;
  readonly #left: () => void;
  #waiting = new Set<T>();
  #weight = 0;
  #lost = false;
  #wake: (() => void) | undefined;
  #stopped = false;
  #gone = false;
  #behind: { readonly events: number; readonly bytes: number } = { events: 0, bytes: 0 };
  #isLive = false;
  hearsAgents = false;

  constructor(most: number, left: () => void) {
    this.#most = most;
    this.#left = left;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Resolves at the next change after this call. To be called before looking for what has changed. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#stopped) resolve();
    });
  }

  /** What comes when too much waits pushes out the rest. */
  add(item: T, weight: number): void {
    this.#weight += weight;
    if (this.#weight > this.#most) {
      this.#waiting = new Set();
      this.#weight = weight;
      this.#lost = true;
    }
    this.#waiting.add(item);
    this.wake();
  }

  /** What waited since the last call; `lost` when some of it was pushed out. */
  take(): { readonly items: readonly T[]; readonly lost: boolean } {
    const taken = { items: [...this.#waiting], lost: this.#lost };
    this.#waiting = new Set();
    this.#weight = 0;
    this.#lost = false;
    return taken;
  }

  /** There is something to read that this follower has not read. */
  missed(bytes: number): void {
    if (!this.#isLive) return;
    this.#behind = { events: this.#behind.events + 1, bytes: this.#behind.bytes + bytes };
  }

  /** It has read everything there is; from now on it counts how far it falls behind. */
  upToDate(): void {
    this.#isLive = true;
    this.#behind = { events: 0, bytes: 0 };
  }

  get isLeftBehind(): boolean {
    return this.#behind.events > BEHIND.events || this.#behind.bytes > BEHIND.bytes;
  }

  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  stop(): void {
    this.#stopped = true;
    this.wake();
  }

  /** The follower has left; its place is free. */
  leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#left();
    this.stop();
  }
}
