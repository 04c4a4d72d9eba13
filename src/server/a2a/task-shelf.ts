// What was known of tasks when the server last looked, in its side file: so that the first list after a start
// need not wait until every run was read. It may be behind the store where another process moved runs
// meanwhile; whoever reads it reads the store as well.

import type { Status } from "../../core/facts.ts";
import type { SideFile } from "../side-file.ts";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS a2a_task (
  run TEXT PRIMARY KEY, agent TEXT NOT NULL, context TEXT NOT NULL, status TEXT NOT NULL, at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS a2a_tasks_read (one INTEGER PRIMARY KEY CHECK (one = 1)) STRICT;
`;

export interface TaskEntry {
  readonly run: string;
  readonly at: number;
  readonly context: string;
  readonly status: Status;
}

interface ShelvedTask extends TaskEntry {
  readonly agent: string;
}

export class TaskShelf {
  readonly #side: SideFile;

  constructor(side: SideFile) {
    side.db.exec(SCHEMA);
    this.#side = side;
  }

  /** Every run was read once, so that what is here is all there was. */
  get isWhole(): boolean {
    return this.#side.sql("SELECT 1 FROM a2a_tasks_read").get() !== undefined;
  }

  markWhole(): void {
    this.#side.quick("INSERT OR IGNORE INTO a2a_tasks_read VALUES (1)").run();
  }

  all(): readonly ShelvedTask[] {
    const rows = this.#side.sql("SELECT run, agent, context, status, at FROM a2a_task").all();
    return rows as unknown as readonly ShelvedTask[];
  }

  /** In one transaction, which need not survive a loss of power. */
  put(tasks: readonly ShelvedTask[]): void {
    if (tasks.length === 0) return;
    this.#side.loose.exec("BEGIN IMMEDIATE");
    try {
      const insert = this.#side.quick("INSERT OR REPLACE INTO a2a_task VALUES (?, ?, ?, ?, ?)");
      for (const { run, agent, context, status, at } of tasks) insert.run(run, agent, context, status, at);
    } finally {
      this.#side.loose.exec("COMMIT");
    }
  }

  drop(run: string): void {
    this.#side.quick("DELETE FROM a2a_task WHERE run = ?").run(run);
  }
}
