// One process at a time writes to a store. The lock is the operating system's, held through a transaction on
// an empty database beside the file: a process that dies, however it dies, lets go of it. Who holds it stands
// in a text of its own, because the locked file cannot be opened without endangering the lock.

import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../../engine/ports.ts";
import { faultOf, isBusy, isOfDisk } from "./store-fault.ts";

export interface FileLock {
  release(): void;
  /** Lets go without leaving a trace, where the file turned out to be no store. */
  withdraw(): void;
}

interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly command: string;
  readonly since: string;
}

export interface Holder {
  /** As the holder wrote it; undefined in the moment before it has. */
  readonly owner: Owner | undefined;
}

/**
 * Who holds the lock of a store; undefined when nobody does. Only for a process that has no store open:
 * looking would cost it its own lock.
 */
export function holderOf(path: string): Holder | undefined {
  const at = existsSync(path) ? realpathSync(path) : path;
  if (!existsSync(`${at}-lock`)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(`${at}-lock`, { readOnly: true, timeout: WAIT_MS });
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return undefined;
  } catch (error) {
    if (!isBusy(error)) throw faultOf(error, path);
    return { owner: readOwner(at) };
  } finally {
    db?.close();
  }
}

/** A process that was killed a moment ago may still be letting go. */
const WAIT_MS = 250;

export function lockFile(path: string): FileLock {
  const isNew = !existsSync(`${path}-lock`);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(`${path}-lock`, { timeout: WAIT_MS });
    db.exec("BEGIN EXCLUSIVE");
    const owner = `${path}-owner`;
    writeFileSync(owner, JSON.stringify(ourselves()));
    const held = db;
    const release = () => {
      removeText(owner);
      held.close();
    };
    return {
      release,
      withdraw() {
        release();
        if (isNew) removeText(`${path}-lock`);
      },
    };
  } catch (error) {
    db?.close();
    throw isBusy(error) ? locked(path, error) : faultOf(error, path);
  }
}

/** The name of the program and of its command, and nothing that could be a secret. */
function ourselves(): Owner {
  const [, program = "", command = ""] = process.argv;
  const words = [basename(program), /^[a-z-]+$/.test(command) ? command : ""];
  return {
    pid: process.pid,
    host: hostname(),
    command: words.filter((word) => word !== "").join(" "),
    since: new Date().toISOString(),
  };
}

/** What stays behind misleads nobody: the next holder writes its own text before anybody can be refused. */
function removeText(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    // The disk fails. Everything acknowledged was written before, and whoever writes next is told.
    if (!isOfDisk(error)) throw error;
  }
}

function locked(path: string, cause: unknown): Fault {
  const owner = readOwner(path);
  const who =
    owner === undefined
      ? "another process"
      : `process ${owner.pid} on ${owner.host} (\`${owner.command}\`, since ${owner.since})`;
  const message = `the store \`${path}\` is in use by ${who}; one process writes at a time: wait for it or stop it`;
  return new Fault("store-locked", message, { retry: "later", cause });
}

function readOwner(path: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(`${path}-owner`, "utf8")) as Owner;
  } catch {
    // It is only for the message; the holder may not have written it yet.
    return undefined;
  }
}
