// Files that were sent to runs, in the server's side file: byte for byte, with the name and type they came
// with. A run is told where they are; they go with it.

import { createHash } from "node:crypto";
import type { Store } from "../engine/ports.ts";
import type { SideFile } from "./side-file.ts";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS sent_file (
  run TEXT NOT NULL, message TEXT NOT NULL, number INTEGER NOT NULL, sha256 TEXT NOT NULL, name TEXT NOT NULL,
  type TEXT NOT NULL, bytes BLOB NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (run, message, number)
) STRICT;
CREATE INDEX IF NOT EXISTS sent_file_sha256 ON sent_file (sha256);
`;

/** They are kept before their run begins, which may never be: those without a run by then go. */
const UNUSED_MS = 3_600_000;

export interface SentFile {
  readonly sha256: string;
  /** Empty where it has none. */
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

export type FileLine = Omit<SentFile, "bytes">;

export interface FilePlace {
  readonly run: string;
  /** The id of the message that it came with. */
  readonly message: string;
}

export const sentFile = (bytes: Buffer, { name, type }: { name: string; type: string }): SentFile => ({
  ...{ bytes, name, type },
  sha256: createHash("sha256").update(bytes).digest("hex"),
});

export const fileAddress = ({ sha256 }: FileLine): string => `/api/blobs/${sha256}`;

export class FileBook {
  readonly #side: SideFile;

  constructor(side: SideFile) {
    side.db.exec(SCHEMA);
    this.#side = side;
  }

  /** The same message again changes nothing. */
  put({ run, message }: FilePlace, files: readonly SentFile[], at: number): void {
    const insert = this.#side.sql("INSERT OR IGNORE INTO sent_file VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    for (const [number, { sha256, name, type, bytes }] of files.entries())
      insert.run(run, message, number, sha256, name, type, bytes, at);
  }

  drop(run: string): void {
    this.#side.sql("DELETE FROM sent_file WHERE run = ?").run(run);
  }

  /** The run did not hear the message: another one may come under its id. */
  dropMessage({ run, message }: FilePlace): void {
    this.#side.sql("DELETE FROM sent_file WHERE run = ? AND message = ?").run(run, message);
  }

  ofMessage({ run, message }: FilePlace): readonly FileLine[] {
    const sql = "SELECT sha256, name, type FROM sent_file WHERE run = ? AND message = ? ORDER BY number";
    return this.#side.sql(sql).all(run, message) as unknown as readonly FileLine[];
  }

  /** Undefined where no run that is still here has it. */
  async find(store: Store, sha256: string, now: number): Promise<SentFile | undefined> {
    const rows = this.#side.sql("SELECT DISTINCT run, at FROM sent_file WHERE sha256 = ?").all(sha256);
    for (const { run, at } of rows as unknown as readonly { readonly run: string; readonly at: number }[]) {
      if ((await store.record(run)) !== undefined) return this.#read(run, sha256);
      if (now - at > UNUSED_MS) this.drop(run);
    }
    return undefined;
  }

  /** What is left of messages that started nothing. */
  async sweep(store: Store, now: number): Promise<void> {
    const old = this.#side
      .sql("SELECT DISTINCT run FROM sent_file WHERE at < ?")
      .all(now - UNUSED_MS) as unknown as readonly { readonly run: string }[];
    for (const { run } of old) if ((await store.record(run)) === undefined) this.drop(run);
  }

  #read(run: string, sha256: string): SentFile | undefined {
    const sql = "SELECT sha256, name, type, bytes FROM sent_file WHERE run = ? AND sha256 = ? LIMIT 1";
    const row = this.#side.sql(sql).get(run, sha256) as unknown as
      | (FileLine & { readonly bytes: Uint8Array })
      | undefined;
    return row && { ...row, bytes: Buffer.from(row.bytes) };
  }
}
