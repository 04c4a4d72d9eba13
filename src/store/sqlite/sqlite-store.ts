// The store in one SQLite file. Reads happen here, on a connection that sees every commit as soon as it is
// acknowledged; writes go through the queue, which groups them.

import { existsSync, realpathSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { assert, Defect } from "../../base/assert.ts";
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
import { toColumn } from "../journal/column-text.ts";
import { runColumns, turnColumns } from "../journal/run-record.ts";
import { recordOf } from "../record.ts";
import { CommitQueue } from "./commit-queue.ts";
import { type OpenOptions, openForReading, openForWriting } from "./database.ts";
import { type FileLock, lockFile } from "./file-lock.ts";
import { Inspector } from "./inspector.ts";
import { Reader, type ReadRun } from "./reader.ts";
import type { CommitRequest, WriteReply, WriteRequest } from "./requests.ts";
import { SnapshotKeeper } from "./snapshot-keeper.ts";
import { decoded, faultOf } from "./store-fault.ts";
import { verifyRun } from "./verify.ts";

export interface SqliteStoreOptions extends OpenOptions {
  /** Opens beside whoever writes; every write is refused. */
  readonly readOnly?: boolean;
}

export async function openSqliteStore(path: string, options: SqliteStoreOptions = {}): Promise<Store> {
  if (options.readOnly === true) {
    if (!existsSync(path))
      throw new Fault("store-unavailable", `there is no store \`${path}\``, { retry: "never" });
    return storeOn(path, openForReading(path), undefined);
  }
  // Whatever links lead to it: one file, one lock.
  const lock = lockFile(existsSync(path) ? realpathSync(path) : path);
  try {
    return storeOn(path, openForWriting(path, options), { lock, options });
  } catch (error) {
    if (error instanceof Fault && error.code === "store-foreign") lock.withdraw();
    else lock.release();
    throw error;
  }
}

function storeOn(path: string, db: DatabaseSync, writing: Writing | undefined): Store {
  try {
    return new SqliteStore(path, db, writing);
  } catch (error) {
    db.close();
    throw faultOf(error, path);
  }
}

interface Writing {
  readonly lock: FileLock;
  readonly options: OpenOptions;
}

const CREATION = "the first turn, and only it, creates the run";

class SqliteStore implements Store {
  readonly #path: string;
  readonly #db: DatabaseSync;
  readonly #reader: Reader;
  readonly #queue: CommitQueue | undefined;
  readonly #lock: FileLock | undefined;
  readonly #snapshots = new SnapshotKeeper();
  /** Programs put since opening: a run that is about to start may need them. */
  readonly #put = new Set<string>();
  #closed: Error | undefined;
  #closing: Promise<void> | undefined;

  constructor(path: string, db: DatabaseSync, writing: Writing | undefined) {
    this.#path = path;
    this.#db = db;
    this.#reader = new Reader(db);
    this.#lock = writing?.lock;
    this.#queue = writing && new CommitQueue(db, path, writing.options, (fault) => this.#broke(fault));
  }

  async load(run: string) {
    return this.#stored(
      run,
      this.#read(() => this.#reader.load(run, Number.POSITIVE_INFINITY)),
    );
  }

  async loadAt(run: string, turn: number) {
    return this.#stored(
      run,
      this.#read(() => this.#reader.load(run, turn)),
    );
  }

  async rows(run: string, range: { from: number; to: number; limit: number }) {
    return this.#read(() => this.#reader.rows(run, range));
  }

  /** Without `async`, and answered at once where the queue can: this is what a loop does most. */
  commit({ run, row, after, create }: Commit): Promise<boolean> {
    if ((row.turn === 1) !== (create !== undefined)) return Promise.reject(new Defect(CREATION));
    const { standing, summary } = turnColumns(after);
    const request: CommitRequest = {
      kind: "commit",
      run: toColumn(run),
      turn: row.turn,
      at: row.at,
      v: row.v,
      facts: JSON.stringify(row.facts),
      standing,
      summary,
      create: create && runColumns(recordOf(run, create, after)),
      snapshot: this.#snapshots.take(run, after),
    };
    try {
      const reply = this.#queue?.writeNow(request);
      if (reply === undefined) return this.#write(request).then((reply) => this.#turned(run, after, reply));
      return Promise.resolve(this.#turned(run, after, reply));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async fork({ from, turn, run, row, after, create }: ForkCommit) {
    assert(row.turn === turn + 1, "a fork goes on where its copy ends");
    const reply = await this.#write({
      kind: "fork",
      from: toColumn(from),
      run: toColumn(run),
      turn: row.turn,
      at: row.at,
      v: row.v,
      facts: JSON.stringify(row.facts),
      ...turnColumns(after),
      create: runColumns(recordOf(run, create, after)),
    });
    return this.#turned(run, after, reply);
  }

  async take({ run, rows, shared, end, create }: TakenJournal) {
    assert(shared < rows.length, "a journal that is taken has turns to add");
    const columns = runColumns(recordOf(run, create, end));
    const reply = await this.#write({ kind: "take", run: toColumn(run), rows, shared, create: columns });
    return this.#turned(run, end, reply);
  }

  async runnable(now: number, limit: number) {
    return this.#read(() => this.#reader.runnable(now, limit));
  }

  async nextDue() {
    return this.#read(() => this.#reader.nextDue());
  }

  async find(key: string) {
    return this.#read(() => this.#reader.find(key));
  }

  async list(filter: RunFilter) {
    return this.#read(() => this.#reader.list(filter));
  }

  async asking(page: { readonly after?: string; readonly limit: number }) {
    return this.#read(() => this.#reader.asking(page));
  }

  async names(filter: { prefix: string; limit: number }) {
    return this.#read(() => this.#reader.names(filter));
  }

  async record(run: string) {
    return this.#read(() => this.#reader.record(run));
  }

  async putProgram(digest: string, program: JsonObject, source: string) {
    const column = toColumn(digest);
    this.#put.add(column);
    await this.#write({ kind: "program", digest: column, program: JSON.stringify(program), source });
  }

  async program(digest: string) {
    return this.#read(() => this.#reader.program(digest));
  }

  async remove(runs: readonly string[]) {
    await this.#write({ kind: "remove", runs: runs.map(toColumn) });
  }

  async collect() {
    let freed = 0;
    for (let sweep = true, more = true; more; sweep = false) {
      const reply = await this.#write({ kind: "collect", sweep, keep: [...this.#put] });
      assert(reply.kind === "collected", "a collection is answered as one");
      freed += reply.freed;
      more = reply.more;
    }
    return freed;
  }

  async verify(run: string) {
    const inspector = new Inspector(this.#db);
    return verifyRun(run, (read) =>
      this.#read(() => decoded(`run ${run}`, () => read(this.#reader, inspector))),
    );
  }

  async strays() {
    return this.#read(() => new Inspector(this.#db).strays());
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.#queue?.close();
    } finally {
      if (this.#closed === undefined) this.#db.close();
      this.#closed ??= new Fault("store-unavailable", "the store is closed", { retry: "never" });
      this.#lock?.release();
    }
  }

  /** A failed write is final: the file is let go, and only opening it again shows what is in it. */
  #broke(fault: Error): void {
    this.#closed = fault;
    this.#db.close();
  }

  #read<T>(read: () => T): T {
    if (this.#closed !== undefined) throw this.#closed;
    try {
      return read();
    } catch (error) {
      throw faultOf(error, this.#path);
    }
  }

  #write(request: WriteRequest): Promise<WriteReply> {
    if (this.#queue === undefined) {
      const message = `the store \`${this.#path}\` was opened for reading`;
      return Promise.reject(new Fault("store-read-only", message, { retry: "never" }));
    }
    return this.#queue.write(request);
  }

  #stored(run: string, read: ReadRun | undefined) {
    if (read === undefined) return undefined;
    this.#snapshots.loaded(run, read);
    const { snapshot, rows, record } = read;
    return { snapshot, rows, record };
  }

  #turned(run: string, after: Run, reply: WriteReply): boolean {
    assert(reply.kind === "turn", "a turn is answered as one");
    this.#snapshots.heard(run, after, reply);
    return reply.written;
  }
}
