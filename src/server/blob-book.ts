// Large results by reference: a result is named by the SHA-256 of its text, and what is kept of it is only
// which step of which run has it. The value stays in the journal and goes with its run. Files that were sent
// to runs are found in the same way.

import { createHash } from "node:crypto";
import type { Json } from "../base/json.ts";
import type { Store } from "../engine/ports.ts";
import { FileBook } from "./file-book.ts";
import type { SideFile } from "./side-file.ts";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS blob (
  sha256 TEXT NOT NULL, run TEXT NOT NULL, turn INTEGER NOT NULL, step INTEGER NOT NULL,
  PRIMARY KEY (sha256, run, step)
) STRICT, WITHOUT ROWID;
`;

/** Larger results have a reference. */
const BLOB_BYTES_MIN = 16 * 1024;

export interface BlobPlace {
  readonly run: string;
  readonly turn: number;
  readonly step: number;
}

export interface BlobRef {
  readonly sha256: string;
  readonly bytes: number;
  readonly href: string;
}

interface Content {
  readonly type: string;
  readonly bytes: Buffer;
  /** Of a file that somebody sent: it is theirs, not ours, and only ever handed on. */
  readonly name?: string;
}

export class BlobBook {
  readonly files: FileBook;
  readonly #side: SideFile;

  constructor(side: SideFile) {
    side.db.exec(SCHEMA);
    this.files = new FileBook(side);
    this.#side = side;
  }

  /** Undefined for a result that is small enough to be sent along. */
  refer({ run, turn, step }: BlobPlace, value: Json): BlobRef | undefined {
    const { bytes } = contentOf(value);
    if (bytes.length <= BLOB_BYTES_MIN) return undefined;
    const sha256 = sha256Of(bytes);
    this.#side.quick("INSERT OR IGNORE INTO blob VALUES (?, ?, ?, ?)").run(sha256, run, turn, step);
    return { sha256, bytes: bytes.length, href: `/api/blobs/${sha256}` };
  }

  /** Undefined where no run that is still here has it. */
  async find(store: Store, sha256: string, now: number): Promise<Content | undefined> {
    const rows = this.#side.sql("SELECT run, turn, step FROM blob WHERE sha256 = ?").all(sha256);
    for (const place of rows as unknown as readonly BlobPlace[]) {
      const content = await contentAt(store, place);
      if (content !== undefined && sha256Of(content.bytes) === sha256) return content;
      const { run, step } = place;
      this.#side.quick("DELETE FROM blob WHERE sha256 = ? AND run = ? AND step = ?").run(sha256, run, step);
    }
    return this.files.find(store, sha256, now);
  }
}

async function contentAt(store: Store, { run, turn, step }: BlobPlace): Promise<Content | undefined> {
  if ((await store.record(run)) === undefined) return undefined;
  const [row] = await store.rows(run, { from: turn, to: turn, limit: 1 });
  for (const fact of row?.facts ?? [])
    if (fact.type === "answered" && fact.step === step && fact.outcome.ok)
      return contentOf(fact.outcome.value);
  return undefined;
}

/** A text is itself; anything else is its JSON as the journal has it. */
const contentOf = (value: Json): Content =>
  typeof value === "string"
    ? { type: "text/plain; charset=utf-8", bytes: Buffer.from(value, "utf8") }
    : { type: "application/json", bytes: Buffer.from(JSON.stringify(value), "utf8") };

const sha256Of = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
