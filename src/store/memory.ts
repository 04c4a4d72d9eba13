// A store in memory: the plainest reading of the port. The simulator runs on it, and the others are held to
// it.

import { assert, must } from "../base/assert.ts";
import type { JsonObject } from "../base/json.ts";
import { fold } from "../core/apply.ts";
import type { TurnRow } from "../core/facts.ts";
import type { Run } from "../core/run.ts";
import type {
  Commit,
  ForkCommit,
  RunCreation,
  RunFilter,
  RunRecord,
  Store,
  TakenJournal,
} from "../engine/ports.ts";
import { digestsOf, recordFits, recordOf, wantsSomebody, wantsWork } from "./record.ts";

/** What outlives the store: give it to the next one to play a restart. */
export class MemoryDisk {
  /** In the order of creation. */
  readonly runs = new Map<string, KeptRun>();
  readonly programs = new Map<string, { readonly program: JsonObject; readonly source: string }>();
}

interface KeptRun {
  readonly create: RunCreation;
  /** Grows with the run; nobody outside gets hold of it. */
  readonly rows: TurnRow[];
  readonly record: RunRecord;
  readonly work: boolean;
  /** Since when somebody is asked for something without a break. */
  readonly askedAt: number | undefined;
  /** Programs its journal was written under: its own, and those of the runs it was forked from. */
  readonly digests: ReadonlySet<string>;
}

export function memoryStore(disk: MemoryDisk = new MemoryDisk()): Store {
  return new MemoryStore(disk);
}

class MemoryStore implements Store {
  readonly #disk: MemoryDisk;
  /** Programs put since opening: a run that is about to start may need them. */
  readonly #put = new Set<string>();

  constructor(disk: MemoryDisk) {
    this.#disk = disk;
  }

  async load(run: string) {
    return this.loadAt(run, Number.POSITIVE_INFINITY);
  }

  async loadAt(run: string, turn: number) {
    const kept = this.#disk.runs.get(run);
    if (kept === undefined) return undefined;
    return { snapshot: undefined, rows: kept.rows.filter((row) => row.turn <= turn), record: kept.record };
  }

  async rows(run: string, { from, to, limit }: { from: number; to: number; limit: number }) {
    const rows = this.#disk.runs.get(run)?.rows ?? [];
    return rows.filter((row) => row.turn >= from && row.turn <= to).slice(0, limit);
  }

  async commit({ run, row, after, create }: Commit) {
    assert((row.turn === 1) === (create !== undefined), "the first turn, and only it, creates the run");
    const kept = this.#disk.runs.get(run);
    if ((kept?.rows.length ?? 0) !== row.turn - 1) return false;
    if (create !== undefined && this.#holds(create.key)) return false;
    const made = must(kept?.create ?? create, "a stored run was created");
    this.#keep(run, { create: made, rows: kept?.rows ?? [], digests: kept?.digests ?? [] }, row, after);
    return true;
  }

  async fork({ from, turn, run, row, after, create }: ForkCommit) {
    assert(row.turn === turn + 1, "a fork goes on where its copy ends");
    const origin = this.#disk.runs.get(from);
    if (origin === undefined || origin.rows.length < turn) return false;
    if (this.#disk.runs.has(run) || this.#holds(create.key)) return false;
    this.#keep(run, { create, rows: origin.rows.slice(0, turn), digests: origin.digests }, row, after);
    return true;
  }

  async take({ run, rows, shared, end, create }: TakenJournal) {
    assert(shared < rows.length, "a journal that is taken has turns to add");
    const kept = this.#disk.runs.get(run);
    if ((kept?.rows.length ?? 0) !== shared) return false;
    if (kept === undefined && this.#holds(create.key)) return false;
    const before = [...(kept?.rows ?? []), ...rows.slice(shared, -1).map(copyOf)];
    const digests = [...(kept?.digests ?? []), ...digestsOf(rows)];
    // Throws when they do not follow each other.
    fold(rows);
    const last = must(rows.at(-1), "a journal has turns");
    this.#keep(run, { create: kept?.create ?? create, rows: before, digests }, last, end);
    return true;
  }

  async runnable(now: number, limit: number) {
    const wanting = [...this.#disk.runs.values()].filter(
      ({ work, record }) => work || (record.due !== null && record.due <= now),
    );
    return wanting.slice(0, limit).map(({ record }) => record.run);
  }

  async nextDue() {
    const times = [...this.#disk.runs.values()].flatMap(({ record }) => record.due ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  async find(key: string) {
    return [...this.#disk.runs.values()].find(({ record }) => record.key === key)?.record.run;
  }

  async list({ status, packId, parent, before, limit }: RunFilter) {
    const newestFirst = [...this.#disk.runs.values()].map(({ record }) => record).reverse();
    const start = before === undefined ? 0 : newestFirst.findIndex(({ run }) => run === before) + 1;
    if (before !== undefined && start === 0) return [];
    return newestFirst
      .slice(start)
      .filter((record) => status === undefined || status.includes(record.status))
      .filter((record) => packId === undefined || record.packId === packId)
      .filter((record) => parent === undefined || record.parent === parent)
      .slice(0, limit);
  }

  async asking({ after, limit }: { readonly after?: string; readonly limit: number }) {
    const [since = 0, number = -1] = (after ?? "").split(" ").map(Number);
    const asking = [...this.#disk.runs.values()].flatMap(({ record, askedAt }, index) =>
      askedAt === undefined ? [] : [{ run: record.run, at: askedAt, index }],
    );
    const behind = asking.filter(
      ({ at, index }) => after === undefined || at > since || (at === since && index > number),
    );
    const oldest = behind.toSorted((a, b) => a.at - b.at || a.index - b.index);
    return oldest.slice(0, limit).map(({ run, at, index }) => ({ run, place: `${at} ${index}` }));
  }

  async names({ prefix, limit }: { prefix: string; limit: number }) {
    const fitting = [...this.#disk.runs.keys()].filter((run) => run.startsWith(prefix));
    return fitting.reverse().slice(0, limit);
  }

  async record(run: string) {
    return this.#disk.runs.get(run)?.record;
  }

  async putProgram(digest: string, program: JsonObject, source: string) {
    this.#put.add(digest);
    if (!this.#disk.programs.has(digest))
      this.#disk.programs.set(digest, { program: copyOf(program), source });
  }

  async program(digest: string) {
    return this.#disk.programs.get(digest);
  }

  async remove(runs: readonly string[]) {
    for (const run of runs) this.#disk.runs.delete(run);
  }

  async collect() {
    const used = new Set([
      ...this.#put,
      ...[...this.#disk.runs.values()].flatMap(({ digests }) => [...digests]),
    ]);
    let freed = 0;
    for (const [digest, { program, source }] of this.#disk.programs) {
      if (used.has(digest)) continue;
      freed += JSON.stringify(program).length + source.length;
      this.#disk.programs.delete(digest);
    }
    return freed;
  }

  async verify(run: string) {
    const kept = this.#disk.runs.get(run);
    if (kept === undefined) return [`there is no run \`${run}\``];
    return recordFits(kept.record, kept.create, fold(kept.rows))
      ? []
      : [`the record of \`${run}\` differs from what its journal folds to`];
  }

  async [Symbol.asyncDispose]() {}

  #holds(key: string | undefined): boolean {
    return key !== undefined && [...this.#disk.runs.values()].some(({ record }) => record.key === key);
  }

  #keep(
    run: string,
    before: { create: RunCreation; rows: TurnRow[]; digests: Iterable<string> },
    row: TurnRow,
    after: Run,
  ): void {
    const create = copyOf(before.create);
    before.rows.push(copyOf(row));
    this.#disk.runs.set(run, {
      create,
      rows: before.rows,
      record: copyOf(recordOf(run, create, after)),
      work: wantsWork(after),
      askedAt: wantsSomebody(after) ? (this.#disk.runs.get(run)?.askedAt ?? row.at) : undefined,
      digests: new Set([...before.digests, create.digest]),
    });
  }
}

/** As a disk would give it back: no sharing with the caller, and only what JSON can say. */
const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
