// Removes runs whole, and what no run refers to any more.

import type { DatabaseSync } from "node:sqlite";
import type { WriteReply } from "./requests.ts";
import { keyOf, TURN_MAX } from "./schema.ts";

/** Pages given back in one go; commits that wait come in between. */
const VACUUM_PAGES_MAX = 2_000;

export class Sweeper {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Names that are not there are passed over. What forks of these runs need stays. */
  remove(names: readonly string[]): void {
    const find = this.#db.prepare("SELECT id FROM run WHERE name = ?");
    for (const name of names) {
      const found = find.get(name) as { id: number } | undefined;
      if (found !== undefined) this.#removeRun(found.id);
    }
    this.#sweepParts();
  }

  /** As `remove` leaves it, and without programs; `keep` names those that a run is about to need. */
  sweep(keep: readonly string[]): void {
    this.#sweepParts();
    this.#db
      .prepare(`DELETE FROM program WHERE digest NOT IN (SELECT digest FROM run_program)
        AND digest NOT IN (SELECT value FROM json_each(?))`)
      .run(JSON.stringify(keep));
  }

  /** Outside a transaction. The pages leave the file with the next checkpoint. */
  vacuum(): WriteReply {
    const before = this.#pages();
    this.#db.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES_MAX})`);
    const after = this.#pages();
    const more = after.free > 0 && after.all < before.all;
    if (!more) this.#db.exec("PRAGMA wal_checkpoint(PASSIVE)");
    return { kind: "collected", freed: (before.all - after.all) * before.size, more };
  }

  #removeRun(run: number): void {
    const range = [keyOf(run, 0), keyOf(run, TURN_MAX)] as const;
    this.#db.prepare("INSERT INTO removing (run) VALUES (?)").run(run);
    this.#db.prepare("DELETE FROM turn WHERE id BETWEEN ? AND ?").run(...range);
    this.#db.prepare("DELETE FROM snapshot WHERE id BETWEEN ? AND ?").run(...range);
    this.#db.prepare("DELETE FROM head WHERE run = ?").run(run);
    this.#db.prepare("DELETE FROM inbox WHERE run = ?").run(run);
    this.#db.prepare("DELETE FROM run_program WHERE run = ?").run(run);
    this.#db.prepare("DELETE FROM run WHERE id = ?").run(run);
    this.#db.prepare("DELETE FROM removing WHERE run = ?").run(run);
  }

  #sweepParts(): void {
    this.#db.exec(`
      DELETE FROM blob WHERE NOT EXISTS (SELECT 1 FROM turn WHERE turn.blob = blob.hash);
      DELETE FROM log WHERE id NOT IN (SELECT ref.value ->> 0
        FROM snapshot, json_each(iif(json_valid(logs), logs, '[]')) AS ref);
      DELETE FROM log_part WHERE log NOT IN (SELECT id FROM log);`);
  }

  #pages(): { readonly all: number; readonly free: number; readonly size: number } {
    const read = (name: string) => Object.values(this.#db.prepare(`PRAGMA ${name}`).get() ?? {})[0] as number;
    return { all: read("page_count"), free: read("freelist_count"), size: read("page_size") };
  }
}
