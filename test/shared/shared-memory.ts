// The memory store, shared by several processes of one test as PostgreSQL is: who drives which run, signs of
// life, and news that may be missed. It keeps the same contract (contract.ts) in virtual time.

import type { Commit, ForkCommit, SharedRuns, Store } from "../../src/engine/ports.ts";
import { wantsWork } from "../../src/store/record.ts";

const DEAD_AFTER_MS = 5_000;
const SURE_MS = 4_000;

/** What all of them see. */
export class SharedDisk {
  readonly driver = new Map<string, string>();
  readonly work = new Set<string>();
  readonly beats = new Map<string, number>();
  readonly turn = new Map<string, number>();
  readonly ended = new Set<string>();
  readonly listeners = new Map<string, Set<(run: string | undefined) => void>>();
}

export interface SharedMemoryOptions {
  readonly id: string;
  readonly disk: SharedDisk;
  /** Keeps the journals. */
  readonly store: Store;
  readonly now: () => number;
  /** Whether news arrive. */
  readonly tells: () => boolean;
}

export class SharedMemory implements SharedRuns {
  readonly #options: SharedMemoryOptions;
  readonly #ours = new Set<string>();
  /** The turns up to which this process has done what was asked. */
  readonly #seen = new Map<string, number>();
  #drives = false;
  #beatAt = Number.NEGATIVE_INFINITY;

  constructor(options: SharedMemoryOptions) {
    this.#options = options;
  }

  get ours(): Iterable<string> {
    return [...this.#ours];
  }

  get held(): number {
    return this.#ours.size;
  }

  get isSure(): boolean {
    return this.now() - this.#beatAt < SURE_MS;
  }

  now(): number {
    return this.#options.now();
  }

  isOurs(run: string): boolean {
    return this.#ours.has(run);
  }

  /** The journals with the bookkeeping of a turn in the same step. */
  get journals(): Pick<Store, "commit" | "fork"> {
    const { store } = this.#options;
    const begun = async (commit: Commit | ForkCommit, written: Promise<boolean>) => {
      const done = await written;
      if (done) this.#wrote(commit);
      return done;
    };
    return {
      commit: (commit) => begun(commit, store.commit(commit)),
      fork: (fork) => begun(fork, store.fork(fork)),
    };
  }

  #wrote({ run, row, after }: Commit | ForkCommit): void {
    const { id, disk } = this.#options;
    const before = disk.driver.get(run);
    const isLeft = before === undefined && disk.work.has(run);
    const isNew = !this.#ours.has(run);
    const driver = wantsWork(after) ? (before ?? (this.#drives ? id : undefined)) : undefined;
    if (driver === undefined) disk.driver.delete(run);
    else disk.driver.set(run, driver);
    if (wantsWork(after)) disk.work.add(run);
    else disk.work.delete(run);
    disk.turn.set(run, row.turn);
    if (after.final !== null) disk.ended.add(run);
    if (isNew ? !isLeft : this.#seen.get(run) === row.turn - 1) this.#seen.set(run, row.turn);
    if (driver !== id) this.#seen.delete(run);
    if (driver === id) this.#ours.add(run);
    else this.#ours.delete(run);
    if (driver !== id) this.#tell(run);
  }

  async claim(limit: number): Promise<readonly string[]> {
    const { disk } = this.#options;
    const free = [...disk.work].filter((run) => !disk.driver.has(run)).slice(0, Math.max(0, limit));
    for (const run of free) this.#take(run);
    return free;
  }

  async claimOne(run: string): Promise<boolean> {
    const { disk } = this.#options;
    if (this.isOurs(run)) return true;
    if (!this.#drives || disk.driver.has(run) || !disk.turn.has(run)) return false;
    this.#take(run);
    return true;
  }

  #take(run: string): void {
    const { disk, id } = this.#options;
    disk.driver.set(run, id);
    this.#ours.add(run);
    this.#seen.set(run, disk.turn.get(run) ?? 0);
  }

  async letGo(runs: readonly string[]): Promise<void> {
    const { disk, id } = this.#options;
    for (const run of runs) {
      if (disk.driver.get(run) === id) disk.driver.delete(run);
      this.#ours.delete(run);
      this.#seen.delete(run);
      this.#tell(run);
    }
  }

  async beat(): Promise<{ readonly moved: readonly string[]; readonly lost: readonly string[] }> {
    const { id, disk, now } = this.#options;
    this.#drives = true;
    this.#beatAt = now();
    disk.beats.set(id, now());
    for (const [other, at] of disk.beats) if (now() - at > DEAD_AFTER_MS) this.#bury(other);
    const held = new Set([...disk.driver].flatMap(([run, driver]) => (driver === id ? [run] : [])));
    const lost = [...this.#ours].filter((run) => !held.has(run));
    for (const run of lost) this.#ours.delete(run);
    for (const run of held) this.#ours.add(run);
    const moved = [...held].filter((run) => (this.#seen.get(run) ?? 0) < (disk.turn.get(run) ?? 0));
    for (const run of moved) this.#seen.set(run, disk.turn.get(run) ?? 0);
    return { moved, lost };
  }

  #bury(other: string): void {
    const { disk } = this.#options;
    disk.beats.delete(other);
    for (const [run, driver] of disk.driver) if (driver === other) disk.driver.delete(run);
  }

  listen(heard: (run: string | undefined) => void): () => void {
    const { id, disk } = this.#options;
    const all = disk.listeners.get(id) ?? new Set();
    disk.listeners.set(id, all.add(heard));
    return () => all.delete(heard);
  }

  async standing(runs: readonly string[]) {
    const { turn, work } = this.#options.disk;
    const known = runs.filter((run) => turn.has(run));
    return new Map(known.map((run) => [run, { turn: turn.get(run) ?? 0, work: work.has(run) }]));
  }

  #tell(run: string): void {
    for (const all of this.#options.disk.listeners.values())
      for (const heard of all) if (this.#options.tells()) heard(run);
  }

  /** As a process does that ends in order. */
  farewell(): void {
    this.#bury(this.#options.id);
    this.#drives = false;
  }
}
