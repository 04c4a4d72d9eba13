// What the calls of a run did to files: one line for each change, durable before the change is made. It tells
// a call that is repeated after a crash whether it had happened (S46), and how much the run has written.
// Changes of one workspace are made one after the other, so the lines of a file form a chain of hashes.

import { createHash } from "node:crypto";
import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isObject, type Json } from "../../../base/json.ts";
import { errorCode } from "../tool-problem.ts";

export interface Change {
  /** The key of the call, `run/step`. */
  readonly key: string;
  readonly path: string;
  /** Hash of the content; null where there was no file. */
  readonly before: string | null;
  readonly after: string;
  /** Bytes by which all changes of the run up to this one made the workspace larger. */
  readonly grown: number;
  /** What the call answers. */
  readonly result: Json;
}

/** Only calls still open can be repeated, and those are recent: older lines are not read. */
const TAIL = 1024 * 1024;

export const changeLogFile = (folder: string, run: string): string =>
  join(folder, "changes", `${contentHash(Buffer.from(run)).slice(0, 32)}.jsonl`);

export class ChangeLog {
  readonly #file: string;

  constructor(folder: string, run: string) {
    this.#file = changeLogFile(folder, run);
  }

  /** The latest changes, oldest first. */
  async read(): Promise<readonly Change[]> {
    let text: string;
    try {
      text = await tailOf(this.#file);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return [];
      throw error;
    }
    // The first line may be the rest of one, the last one torn by a crash before its change was made.
    return text.split("\n").flatMap((line) => changeOf(line) ?? []);
  }

  async add(change: Change): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    const file = await open(this.#file, "a", 0o600);
    try {
      // A line of its own also after a torn one.
      const { size } = await file.stat();
      await file.appendFile(`${size > 0 ? "\n" : ""}${JSON.stringify(change)}`);
      await file.sync();
      if (size === 0) await syncFolder(dirname(this.#file));
    } finally {
      await file.close();
    }
  }
}

/** The change happened when what the file holds now came from what it left, by later changes or none. */
export function hasHappened(changes: readonly Change[], mine: Change, now: string | null): boolean {
  const left = new Set([mine.after]);
  for (const change of changes.slice(changes.indexOf(mine) + 1)) {
    if (change.path === mine.path && change.before !== null && left.has(change.before))
      left.add(change.after);
  }
  return now !== null && left.has(now);
}

export const contentHash = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

async function tailOf(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, TAIL));
    await file.read(bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8");
  } finally {
    await file.close();
  }
}

function changeOf(line: string): Change | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && typeof value["key"] === "string" ? (value as unknown as Change) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
