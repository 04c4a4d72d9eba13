// What the server keeps for itself, in a small database beside the store: registered packs, replies to
// requests with a key, names of removed runs, webhooks and how far each has been told. Nothing about runs:
// those are in their journals, and a side file that is lost costs no turn.

import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { JsonObject } from "../base/json.ts";
import { Fault } from "../engine/ports.ts";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS pack (
  digest TEXT PRIMARY KEY, id TEXT NOT NULL, version TEXT NOT NULL, file TEXT NOT NULL, source TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS reply (
  key TEXT PRIMARY KEY, hash TEXT NOT NULL, status INTEGER NOT NULL, headers TEXT NOT NULL,
  body TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS reply_at ON reply (at);
CREATE TABLE IF NOT EXISTS removed (run TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS probe (one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL) STRICT;
`;

export interface KeptPack {
  readonly digest: string;
  readonly id: string;
  readonly version: string;
  /** The name its diagnostics are shown under. */
  readonly file: string;
  readonly source: string;
  readonly at: number;
  /** What lies beside it, as JSON; null when its text is all there is. */
  readonly beside: string | null;
}

export interface KeptReply {
  /** Of the request. */
  readonly hash: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export class SideFile implements Disposable {
  readonly db: DatabaseSync;
  /** The same file, where a commit need not survive a loss of power. */
  readonly loose: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #quick = new Map<string, StatementSync>();
  /** Keeps others from the file. */
  readonly #lock: Disposable | undefined;

  /** `:memory:` keeps nothing beyond the process. */
  constructor(path: string, lock?: Disposable) {
    this.#lock = lock;
    try {
      this.db = new DatabaseSync(path, { timeout: 5_000 });
      this.db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
      this.db.exec(SCHEMA);
      if (
        this.db.prepare("SELECT 1 FROM pragma_table_info('pack') WHERE name = 'beside'").get() === undefined
      )
        this.db.exec("ALTER TABLE pack ADD COLUMN beside TEXT");
      this.loose = path === ":memory:" ? this.db : new DatabaseSync(path, { timeout: 5_000 });
      if (this.loose !== this.db) this.loose.exec("PRAGMA synchronous = NORMAL");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `the server's own file \`${path}\` cannot be used: ${why} (no run is in it; move it away)`;
      throw new Fault("side-file", message, { retry: "never", cause: error });
    }
  }

  /** Prepared once. */
  sql(text: string): StatementSync {
    return prepared(this.#statements, this.db, text);
  }

  quick(text: string): StatementSync {
    return prepared(this.#quick, this.loose, text);
  }

  putPack({ digest, id, version, file, source, at, beside }: KeptPack): void {
    this.sql("INSERT OR REPLACE INTO pack VALUES (?, ?, ?, ?, ?, ?, ?)").run(
      ...[digest, id, version, file, source, at, beside],
    );
  }

  pack(digest: string): KeptPack | undefined {
    return this.sql("SELECT * FROM pack WHERE digest = ?").get(digest) as KeptPack | undefined;
  }

  newestPack(id: string): KeptPack | undefined {
    const row = this.sql("SELECT * FROM pack WHERE id = ? ORDER BY at DESC, digest DESC LIMIT 1").get(id);
    return row as KeptPack | undefined;
  }

  /** The newest first; those registered before the one given. */
  packs({ before, limit }: { before: string | undefined; limit: number }): readonly KeptPack[] {
    const last = before === undefined ? undefined : this.pack(before);
    if (before !== undefined && last === undefined) return [];
    const rows = this.sql(
      "SELECT * FROM pack WHERE (at, digest) < (?, ?) ORDER BY at DESC, digest DESC LIMIT ?",
    ).all(last?.at ?? Number.MAX_SAFE_INTEGER, last?.digest ?? "", limit);
    return rows as unknown as readonly KeptPack[];
  }

  reply(key: string): KeptReply | undefined {
    const row = this.sql("SELECT hash, status, headers, body FROM reply WHERE key = ?").get(key);
    if (row === undefined) return undefined;
    const { hash, status, headers, body } = row as Record<"hash" | "headers" | "body", string> & {
      status: number;
    };
    const kept = JSON.parse(headers) as Readonly<Record<string, string>>;
    return { hash, status, headers: kept, body: JSON.parse(body) as JsonObject };
  }

  putReply(key: string, { hash, status, headers, body }: KeptReply, at: number): void {
    const texts = [JSON.stringify(headers), JSON.stringify(body ?? null)] as const;
    this.sql("INSERT OR REPLACE INTO reply VALUES (?, ?, ?, ?, ?, ?)").run(key, hash, status, ...texts, at);
  }

  dropReplies(before: number): void {
    this.sql("DELETE FROM reply WHERE at < ?").run(before);
  }

  /** Who follows a run that is gone is told so, and not that it never was. */
  noteRemoved(runs: readonly string[], at: number): void {
    for (const run of runs) this.sql("INSERT OR REPLACE INTO removed VALUES (?, ?)").run(run, at);
  }

  wasRemoved(run: string): boolean {
    return this.sql("SELECT 1 FROM removed WHERE run = ?").get(run) !== undefined;
  }

  /** Throws when this disk takes nothing. */
  probe(at: number): void {
    this.sql("INSERT OR REPLACE INTO probe VALUES (1, ?)").run(at);
  }

  [Symbol.dispose](): void {
    if (this.loose !== this.db) this.loose.close();
    this.db.close();
    this.#lock?.[Symbol.dispose]();
  }
}

function prepared(known: Map<string, StatementSync>, db: DatabaseSync, text: string): StatementSync {
  const made = known.get(text) ?? db.prepare(text);
  known.set(text, made);
  return made;
}
