// The database of a gateway: jobs, contexts, plugin state, what happened. One process writes; the lock is a
// transaction on an empty database beside it, which the operating system ends with the process.

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { makeFolder } from "../../engine/make-folder.ts";
import { Fault } from "../../engine/ports.ts";
import { DiskSync } from "./disk-sync.ts";

const VERSION = 1;

const SCHEMA = `
CREATE TABLE job (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, plugin TEXT NOT NULL, command TEXT NOT NULL,
  payload TEXT NOT NULL, status TEXT NOT NULL, attempt INTEGER NOT NULL, max_attempts INTEGER NOT NULL,
  submitted_by TEXT NOT NULL, dedupe_key TEXT, pipeline TEXT, step_id TEXT, instance_id TEXT,
  parent_job_id TEXT, root_job_id TEXT NOT NULL, source_event_id TEXT, context_id TEXT,
  workspace_id TEXT NOT NULL, created_at INTEGER NOT NULL, started_at INTEGER, completed_at INTEGER,
  next_retry_at INTEGER, deadline_at INTEGER, pid INTEGER, pid_started TEXT, exit_code INTEGER,
  error_code TEXT, last_error TEXT, result TEXT
) STRICT;
CREATE INDEX job_open ON job (status, seq) WHERE status IN ('queued', 'running');
CREATE INDEX job_root ON job (root_job_id);
CREATE INDEX job_parent ON job (parent_job_id) WHERE parent_job_id IS NOT NULL;
CREATE INDEX job_workspace ON job (workspace_id);
CREATE INDEX job_context ON job (context_id) WHERE context_id IS NOT NULL;
CREATE INDEX job_completed ON job (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX job_key ON job (dedupe_key, plugin, command) WHERE dedupe_key IS NOT NULL;
CREATE UNIQUE INDEX job_event ON job (
  parent_job_id, source_event_id, ifnull(pipeline, ''), ifnull(step_id, ''), plugin, command
) WHERE parent_job_id IS NOT NULL AND source_event_id IS NOT NULL;
CREATE TABLE context (id TEXT PRIMARY KEY, body TEXT NOT NULL, reply_to TEXT) STRICT;
CREATE TABLE plugin_state (plugin TEXT PRIMARY KEY, blob TEXT NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE TABLE job_log (
  job_id TEXT NOT NULL, attempt INTEGER NOT NULL, status TEXT NOT NULL, at INTEGER NOT NULL,
  exit_code INTEGER, error_code TEXT, error TEXT, document TEXT, stderr TEXT, PRIMARY KEY (job_id, attempt)
) STRICT;
CREATE TABLE notice (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, name TEXT NOT NULL, data TEXT NOT NULL
) STRICT;
CREATE TABLE schedule (key TEXT PRIMARY KEY, next_at INTEGER NOT NULL) STRICT;
CREATE TABLE workspace (id TEXT PRIMARY KEY, used_at INTEGER NOT NULL) STRICT;
PRAGMA user_version = ${VERSION};
`;

export interface QueueFileOptions {
  readonly path: string;
  readonly newId: () => string;
  readonly readOnly?: boolean;
}

export class QueueFile implements Disposable {
  readonly newId: () => string;
  readonly #db: DatabaseSync;
  readonly #lock: DatabaseSync | undefined;
  readonly #statements = new Map<string, StatementSync>();
  readonly #listeners = new Set<() => void>();
  /** Absent where there is no log: then every commit waits for the disk by itself. */
  readonly #sync: DiskSync | undefined;

  constructor({ path, newId, readOnly = false }: QueueFileOptions) {
    this.newId = newId;
    if (readOnly && !existsSync(path))
      throw new Fault("store-empty", `there is no gateway state at \`${path}\``, { retry: "never" });
    if (!readOnly) makeHome(path);
    this.#lock = readOnly ? undefined : lock(`${path}.lock`);
    try {
      this.#db = opened(path, readOnly);
      this.#sync = hasLog(this.#db) ? new DiskSync(path) : undefined;
    } catch (error) {
      this.#lock?.close();
      throw error;
    }
  }

  /** Prepared once. */
  sql(text: string): StatementSync {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const made = this.#db.prepare(text);
    this.#statements.set(text, made);
    return made;
  }

  run(text: string, ...values: SQLInputValue[]): number {
    return Number(this.sql(text).run(...values).changes);
  }

  get<Row>(text: string, ...values: SQLInputValue[]): Row | undefined {
    return this.sql(text).get(...values) as Row | undefined;
  }

  all<Row>(text: string, ...values: SQLInputValue[]): readonly Row[] {
    return this.sql(text).all(...values) as Row[];
  }

  /**
   * All or nothing, and never lost with the process. With the machine's power it may be, until it is durable:
   * what must not be done or said before waits for that.
   */
  transaction<T>(act: () => T, { durable }: { durable: boolean }): T {
    this.#db.exec("BEGIN IMMEDIATE");
    let made: T;
    try {
      made = act();
      this.#db.exec("COMMIT");
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
    if (durable) this.#sync?.want();
    else this.#sync?.allow();
    for (const listener of [...this.#listeners]) listener();
    return made;
  }

  /** Resolves when everything that was committed is on the disk, also what nobody asked to be durable. */
  async durable(): Promise<void> {
    await this.#sync?.through();
  }

  /** Called after every transaction; the result ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  [Symbol.dispose](): void {
    this.#sync?.[Symbol.dispose]();
    if (this.#db.isOpen) this.#db.close();
    if (this.#lock?.isOpen === true) this.#lock.close();
  }
}

function makeHome(path: string): void {
  try {
    makeFolder(dirname(path));
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): Fault {
  const why = error instanceof Error ? error.message : String(error);
  const message = `the gateway's state \`${path}\` cannot be used: ${why}`;
  return new Fault("gateway-state", message, { retry: "never", cause: error });
}

function opened(path: string, readOnly: boolean): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: 5_000, readOnly });
    const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (version > VERSION) throw new Error(`it was written by a newer version (${version})`);
    if (readOnly && version === 0) throw new Error("it is not the state of a gateway");
    if (readOnly) return db;
    db.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 1000;");
    db.exec(hasLog(db) ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
    if (version === 0) db.exec(`BEGIN; ${SCHEMA} COMMIT;`);
    return db;
  } catch (error) {
    db?.close();
    throw unusable(path, error);
  }
}

/** Not every file system can have one. */
const hasLog = (db: DatabaseSync): boolean =>
  db.prepare("PRAGMA journal_mode").get()?.["journal_mode"] === "wal";

/** A process that was killed a moment ago may still be letting go. */
const LOCK_WAIT_MS = 250;

function lock(path: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
    db.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE;");
    return db;
  } catch (error) {
    db?.close();
    const isBusy = (error as { errcode?: number }).errcode === 5;
    const message = isBusy
      ? `another gateway runs on this state (\`${path}\` is locked)`
      : `the lock \`${path}\` cannot be taken: ${error instanceof Error ? error.message : String(error)}`;
    throw new Fault(isBusy ? "store-locked" : "gateway-state", message, { retry: "later", cause: error });
  }
}
