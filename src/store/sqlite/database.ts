// Opens the file of a store: tells ours from others', makes the tables of a new one, and sets what every
// connection needs. Durability rests on the settings here: WAL and a full sync in every commit.

import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { Fault } from "../../engine/ports.ts";
import { corrupt } from "../journal/damage.ts";
import { FOLD_VERSION } from "../journal/snapshot.ts";
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION, UPGRADE } from "./schema.ts";
import { empty, faultOf, foreign, isUnwritable } from "./store-fault.ts";

export interface OpenOptions {
  /** The file grows to at most so many pages of 4 KiB; past it the store is `store-unavailable`. */
  readonly pagesMax?: number;
}

/** Only other programs ever hold the file: ours take turns by the lock beside it. */
const BUSY_TIMEOUT_MS = 5_000;

/** The first connection of a process that may write: makes or checks the tables. */
export function openForWriting(path: string, options: OpenOptions): DatabaseSync {
  return opened(path, { readOnly: false }, (db) => {
    const kind = kindOf(db);
    if (kind === "foreign") throw foreign(path);
    // To be said before anything is written, or it has no effect.
    if (kind === "empty") db.exec("PRAGMA auto_vacuum = INCREMENTAL");
    // Executed apart from being read: a statement left at its first row does not say that its commit failed.
    db.exec("PRAGMA journal_mode = WAL");
    if (read(db, "PRAGMA journal_mode") !== "wal") {
      const message = `the file system of \`${path}\` does not allow a write-ahead log; keep the store on a local disk`;
      throw new Fault("store-unavailable", message, { retry: "never" });
    }
    settle(db, options);
    if (kind === "empty") create(db);
    if (checkVersion(db, path) < SCHEMA_VERSION) upgrade(db);
    // A file that may only be read opens all the same, and would show it with the first turn. Nothing is
    // written by this.
    db.exec("DELETE FROM meta WHERE false");
    dropOldSnapshots(db);
  });
}

/** A further connection to a file that `openForWriting` has seen to. */
export function openAgain(path: string, options: OpenOptions): DatabaseSync {
  return opened(path, { readOnly: false }, (db) => settle(db, options));
}

/** Beside whoever writes, in this process or another. */
export function openForReading(path: string): DatabaseSync {
  const prepare = (db: DatabaseSync) => {
    const kind = kindOf(db);
    if (kind !== "ours") throw kind === "empty" ? empty(path) : foreign(path);
    db.exec("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF");
    checkVersion(db, path);
  };
  try {
    return opened(path, { readOnly: true }, prepare);
  } catch (error) {
    // Reading beside a writer needs files that cannot be made where nothing may be written. A log holds turns
    // that are nowhere else; without one the file is whole, and nobody can be writing to it.
    if (!isUnwritable(error) || existsSync(`${path}-wal`)) throw error;
    return opened(path, { readOnly: true, isFrozen: true }, prepare);
  }
}

function opened(
  path: string,
  { readOnly, isFrozen }: { readOnly: boolean; isFrozen?: true },
  prepare: (db: DatabaseSync) => void,
): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(isFrozen === true ? frozen(path) : path, { readOnly, timeout: BUSY_TIMEOUT_MS });
    prepare(db);
    return db;
  } catch (error) {
    db?.close();
    throw faultOf(error, path);
  }
}

function frozen(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return url;
}

function settle(db: DatabaseSync, { pagesMax }: OpenOptions): void {
  // Apple's disks sync only when asked twice; elsewhere the two fullfsync settings do nothing.
  db.exec(`
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA cell_size_check = ON;
    PRAGMA trusted_schema = OFF;
    PRAGMA journal_size_limit = 16777216;`);
  if (pagesMax !== undefined) db.exec(`PRAGMA max_page_count = ${pagesMax}`);
}

/** A file without a table is empty, whatever an interrupted creation left in its header. */
function kindOf(db: DatabaseSync): "ours" | "empty" | "foreign" {
  const tables = read(db, "SELECT count(*) FROM sqlite_schema");
  if (tables === 0) return "empty";
  return read(db, "PRAGMA application_id") === APPLICATION_ID ? "ours" : "foreign";
}

function create(db: DatabaseSync): void {
  db.exec("BEGIN IMMEDIATE");
  db.exec(SCHEMA);
  const put = db.prepare("INSERT INTO meta (name, value) VALUES (?, ?)");
  put.run("schema", SCHEMA_VERSION);
  put.run("fold", FOLD_VERSION);
  put.run("created_by", "packloop");
  db.exec("COMMIT");
}

/** All of it or none: whoever opens the file after a crash does it again. */
function upgrade(db: DatabaseSync): void {
  db.exec("BEGIN IMMEDIATE");
  db.exec(UPGRADE);
  db.exec("COMMIT");
}

function checkVersion(db: DatabaseSync, path: string): number {
  const version = read(db, "SELECT value FROM meta WHERE name = 'schema'");
  if (typeof version !== "number" || version < 1)
    throw corrupt(path, "it does not say which version it is of");
  if (version <= SCHEMA_VERSION) return version;
  const message = `the store \`${path}\` has format ${version} and this packloop knows up to ${SCHEMA_VERSION}; use a newer packloop`;
  throw new Fault("store-newer", message, { retry: "never" });
}

/** What an older fold left is of no use to this one. The next turn of each long run writes a new snapshot. */
function dropOldSnapshots(db: DatabaseSync): void {
  if (read(db, "SELECT value FROM meta WHERE name = 'fold'") === FOLD_VERSION) return;
  db.exec("BEGIN IMMEDIATE");
  db.exec("DELETE FROM snapshot; DELETE FROM log; DELETE FROM log_part");
  db.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('fold', ?)").run(FOLD_VERSION);
  db.exec("COMMIT");
}

function read(db: DatabaseSync, sql: string): unknown {
  return Object.values(db.prepare(sql).get() ?? {})[0];
}
