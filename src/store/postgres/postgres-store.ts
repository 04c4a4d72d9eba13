// The store in a PostgreSQL database. Any number of processes read and write it: a turn is taken by whoever
// finds the journal where it goes on from.

import { assert } from "../../base/assert.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Run } from "../../core/run.ts";
import {
  type Commit,
  Fault,
  type ForkCommit,
  type RunFilter,
  type Store,
  type TakenJournal,
} from "../../engine/ports.ts";
import { overdue } from "../journal/run-record.ts";
import { readAddress } from "./address.ts";
import { CommitGroups } from "./commit-groups.ts";
import { Connections } from "./connections.ts";
import { type Head, HeadMemory } from "./head-memory.ts";
import { type Begun, JournalWriter } from "./journal-writer.ts";
import { checkVersion, migrate } from "./migrate.ts";
import {
  askingRuns,
  checkedRecord,
  listRuns,
  loadRun,
  type ReadRun,
  runNames,
  runRow,
  storedProgram,
  turnsOf,
} from "./reader.ts";
import { PostgresSharedRuns } from "./shared-runs.ts";
import { fromText, toText, turnValues } from "./turn-columns.ts";
import { verifyRun } from "./verify.ts";

export interface PostgresStoreOptions {
  readonly readOnly?: boolean;
  /** How long the database may be away before work fails. */
  readonly outageMs?: number;
  /** How long a statement may be without an answer before its connection counts as lost. */
  readonly answerMs?: number;
  readonly connections?: number;
  /** How long a program that no run needs is kept for one that is about to start. */
  readonly programGraceMs?: number;
  /** Tables are there already; without them there is nothing to open. */
  readonly existing?: boolean;
}

const PROGRAM_GRACE_MS = 3_600_000;
const OUTAGE_MS = 30_000;
const ANSWER_MS = 30_000;

/**
 * Turns, signs of life and news have a connection each that nothing else takes: who has a hundred runs to
 * read after a crash must neither seem dead nor keep the turns of its other runs waiting.
 */
const VITAL = 3;

/** For everything else. */
const CONNECTIONS = 3;

export async function openPostgresStore(
  url: string,
  options: PostgresStoreOptions = {},
): Promise<PostgresStore> {
  const address = readAddress(url);
  const { schema } = address;
  const { connections = CONNECTIONS, outageMs = OUTAGE_MS, answerMs = ANSWER_MS, readOnly = false } = options;
  const terms = { address, outageMs, answerMs };
  await using opening = new AsyncDisposableStack();
  const opened = opening.use(await Connections.open({ ...terms, connections }));
  const vital = opening.use(await Connections.open({ ...terms, connections: VITAL }));
  if (readOnly || options.existing === true) await checkVersion(opened, { schema, readOnly });
  if (!readOnly) await migrate(opened, schema);
  const store = new PostgresStore({ opened, vital }, { ...options, readOnly });
  await store.shared.setClock(opened);
  opening.move();
  return store;
}

interface StoreConnections {
  readonly opened: Connections;
  readonly vital: Connections;
}

export class PostgresStore implements Store {
  readonly shared: PostgresSharedRuns;
  readonly #connections: Connections;
  readonly #vital: Connections;
  readonly #options: PostgresStoreOptions;
  /** Programs put since opening: a run that is about to start may need them. */
  readonly #put = new Set<string>();
  /** Turns of one run are written one after the other. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #heads = new HeadMemory();
  readonly #groups: CommitGroups;
  readonly #writer: JournalWriter;
  /** Snapshots on their way: a cache, so nobody waits for them but who closes. */
  readonly #snapshots = new Set<Promise<unknown>>();

  constructor({ opened, vital }: StoreConnections, options: PostgresStoreOptions) {
    this.#connections = opened;
    this.#vital = vital;
    this.#options = options;
    this.shared = new PostgresSharedRuns({ connections: vital, heads: this.#heads });
    const driver = () => this.shared.driver;
    this.#groups = new CommitGroups({ connections: vital, driver });
    this.#writer = new JournalWriter(opened, driver);
  }

  load(run: string) {
    return this.#load(run, Number.MAX_SAFE_INTEGER);
  }

  loadAt(run: string, turn: number) {
    return this.#load(run, turn);
  }

  async rows(run: string, { from, to, limit }: { from: number; to: number; limit: number }) {
    const first = Math.max(1, from);
    return this.#unlessRemoved(run, async () => {
      const found = await this.#connections.read(async (query) => {
        const row = await runRow(query, run);
        if (row === undefined) return [];
        const last = Math.min(to, row.head_turn, first + limit - 1);
        return turnsOf(query, row, { from: first, last });
      });
      return found;
    }).then((rows) => rows ?? []);
  }

  commit(commit: Commit): Promise<boolean> {
    const { run } = commit;
    const before = this.#turns.get(run);
    const done = before === undefined ? this.#commit(commit) : before.then(() => this.#commit(commit));
    const last = done.catch(() => undefined);
    this.#turns.set(run, last);
    void last.then(() => this.#turns.get(run) === last && this.#turns.delete(run));
    return done;
  }

  async #commit(commit: Commit): Promise<boolean> {
    this.#refuseReaders();
    const { run, row, after, create } = commit;
    assert((row.turn === 1) === (create !== undefined), "the first turn, and only it, creates the run");
    if (create !== undefined) {
      return this.#begun(run, after, await this.#writer.create({ ...commit, create }));
    }
    const known = this.#heads.get(run, row.turn - 1) ?? (await this.#head(run, row.turn - 1));
    if (known === undefined) return false;
    const values = turnValues(known, row, after);
    const written = await this.#groups.write({ run: known.run, values });
    if (written === undefined) {
      this.#heads.forget(run);
      return false;
    }
    this.shared.wrote(run, values.turn, written);
    this.#moved(run, after, { ...known, turn: values.turn, hash: values.hash, bytes: values.bytes });
    return true;
  }

  async fork(fork: ForkCommit): Promise<boolean> {
    this.#refuseReaders();
    assert(fork.row.turn === fork.turn + 1, "a fork goes on where its copy ends");
    return this.#begun(fork.run, fork.after, await this.#writer.fork(fork));
  }

  async take(journal: TakenJournal): Promise<boolean> {
    this.#refuseReaders();
    assert(journal.shared < journal.rows.length, "a journal that is taken has turns to add");
    return this.#begun(journal.run, journal.end, await this.#writer.take(journal));
  }

  async runnable(now: number, limit: number) {
    const { rows } = await this.#connections.read((query) =>
      query.query<{ name: string }>(
        `SELECT r.name FROM run r JOIN head h ON h.run = r.id WHERE h.work OR h.due <= $1 ORDER BY r.id LIMIT $2`,
        [now, limit],
      ),
    );
    return rows.map(({ name }) => fromText(name));
  }

  async nextDue() {
    const { rows } = await this.#connections.read((query) =>
      query.query<{ due: number | null }>("SELECT min(due) AS due FROM head WHERE due IS NOT NULL"),
    );
    return rows[0]?.due ?? undefined;
  }

  async find(key: string) {
    const { rows } = await this.#connections.read((query) =>
      query.query<{ name: string }>("SELECT name FROM run WHERE key = $1", [toText(key)]),
    );
    return rows[0] && fromText(rows[0].name);
  }

  list(filter: RunFilter) {
    return this.#connections.read((query) => listRuns(query, filter));
  }

  asking(page: { readonly after?: string; readonly limit: number }) {
    return this.#connections.read((query) => askingRuns(query, page));
  }

  names(filter: { prefix: string; limit: number }) {
    return this.#connections.read((query) => runNames(query, filter));
  }

  async record(run: string) {
    const row = await this.#connections.read((query) => runRow(query, run));
    return row && checkedRecord(row);
  }

  async putProgram(digest: string, program: JsonObject, source: string) {
    this.#refuseReaders();
    this.#put.add(digest);
    await this.#writer.putProgram(digest, program, source);
  }

  program(digest: string) {
    return this.#connections.read((query) => storedProgram(query, digest));
  }

  async remove(runs: readonly string[]) {
    this.#refuseReaders();
    for (const run of runs) this.#heads.forget(run);
    await this.#writer.remove(runs);
  }

  async collect() {
    this.#refuseReaders();
    return this.#writer.collect(this.#put, this.#options.programGraceMs ?? PROGRAM_GRACE_MS);
  }

  verify(run: string) {
    return this.#connections.read((query) => verifyRun(query, run));
  }

  async [Symbol.asyncDispose]() {
    await Promise.allSettled(this.#snapshots);
    await this.shared.close();
    await this.#vital[Symbol.asyncDispose]();
    await this.#connections[Symbol.asyncDispose]();
  }

  async #load(run: string, upTo: number) {
    const read = await this.#unlessRemoved(run, () =>
      this.#connections.read((query) => loadRun(query, run, upTo)),
    );
    if (read === undefined) return undefined;
    this.#heads.put(run, read.head);
    const { snapshot, rows, record }: ReadRun = read;
    return { snapshot, rows, record };
  }

  /** A run that is removed while it is read seems damaged; it is only gone. */
  async #unlessRemoved<T>(run: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "store-corrupt") throw error;
      const row = await this.#connections.read((query) => runRow(query, run));
      if (row === undefined) return undefined;
      throw error;
    }
  }

  async #head(run: string, turn: number): Promise<Head | undefined> {
    const read = await this.#connections.read((query) => loadRun(query, run, Number.MAX_SAFE_INTEGER));
    return read?.head.turn === turn ? read.head : undefined;
  }

  #begun(run: string, after: Run, begun: Begun | undefined): boolean {
    if (begun === undefined) this.#heads.forget(run);
    else {
      const { driver, ...head } = begun;
      this.shared.wrote(run, head.turn, { driver, left: false });
      this.#moved(run, after, head);
    }
    return begun !== undefined;
  }

  #moved(run: string, after: Run, head: Head): void {
    this.#heads.put(run, head);
    if (overdue(head) === 0) return;
    const covered = { ...head, covers: head.bytes };
    this.#heads.put(run, covered);
    const written = this.#writer.snapshot(head, after).then((bytes) => {
      const now = this.#heads.get(run, covered.turn);
      if (now !== undefined) this.#heads.put(run, { ...now, snapshot: bytes });
    });
    // A snapshot that could not be written is missed by nobody.
    const done = written.catch(() => undefined).finally(() => this.#snapshots.delete(done));
    this.#snapshots.add(done);
  }

  #refuseReaders(): void {
    if (this.#options.readOnly === true)
      throw new Fault("store-read-only", "the store was opened for reading", { retry: "never" });
  }
}
