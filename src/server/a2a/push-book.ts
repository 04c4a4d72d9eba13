// Who is told about which task, in the server's side file. What is still to be sent is not kept: it is the
// journal after the place each one has got to.

import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import type { SideFile } from "../side-file.ts";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS a2a_push (
  task TEXT NOT NULL, id TEXT NOT NULL, url TEXT NOT NULL, token TEXT NOT NULL, scheme TEXT NOT NULL,
  credentials TEXT NOT NULL, turn INTEGER NOT NULL, sent INTEGER NOT NULL, attempts INTEGER NOT NULL,
  due INTEGER, outcome TEXT, at INTEGER NOT NULL, told TEXT, PRIMARY KEY (task, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS a2a_push_due ON a2a_push (due) WHERE due IS NOT NULL;
`;

export interface PushConfig {
  readonly task: string;
  readonly id: string;
  readonly url: string;
  readonly token: string;
  readonly scheme: string;
  readonly credentials: string;
  /** The last turn that was told whole. */
  readonly turn: number;
  /** So many updates of the turn after it were told. */
  readonly sent: number;
  /** In vain, since the last that arrived. */
  readonly attempts: number;
  /** When the next one may be sent; null when there will be none. */
  readonly due: number | null;
  readonly outcome: string | null;
  readonly at: number;
  /** The status that was told last, as a hash; null when there was none to compare with. */
  readonly told: string | null;
}

export class PushBook {
  readonly #side: SideFile;

  constructor(side: SideFile) {
    this.#side = side;
    side.db.exec(SCHEMA);
  }

  put(
    { taskId, id, url, token, authentication }: TaskPushNotificationConfig,
    turn: number,
    at: number,
  ): void {
    const { scheme = "", credentials = "" } = authentication ?? {};
    this.#side
      .sql("INSERT OR REPLACE INTO a2a_push VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, ?, NULL, ?, NULL)")
      .run(taskId, id, url, token, scheme, credentials, turn, at, at);
  }

  find(task: string, id: string): PushConfig | undefined {
    const row = this.#side.sql("SELECT * FROM a2a_push WHERE task = ? AND id = ?").get(task, id);
    return row as PushConfig | undefined;
  }

  ofTask(task: string): readonly PushConfig[] {
    const rows = this.#side.sql("SELECT * FROM a2a_push WHERE task = ? ORDER BY at, id").all(task);
    return rows as unknown as readonly PushConfig[];
  }

  remove(task: string, id: string): void {
    this.#side.sql("DELETE FROM a2a_push WHERE task = ? AND id = ?").run(task, id);
  }

  /** Of runs that were removed, and of those that have long been told everything. */
  forget(task: string): void {
    this.#side.sql("DELETE FROM a2a_push WHERE task = ?").run(task);
  }

  forgetOver(before: number): void {
    this.#side.sql("DELETE FROM a2a_push WHERE due IS NULL AND at < ?").run(before);
  }

  /** Tasks of which somebody may still have to be told something. */
  open(): readonly string[] {
    return tasksOf(this.#side.sql("SELECT DISTINCT task FROM a2a_push WHERE due IS NOT NULL").all());
  }

  /** Tasks of which telling somebody failed, and may be tried again. */
  retries(now: number): readonly string[] {
    return tasksOf(
      this.#side.sql("SELECT DISTINCT task FROM a2a_push WHERE attempts > 0 AND due <= ?").all(now),
    );
  }

  /** The next time at which one that failed is tried again. */
  nextRetry(): number | undefined {
    const row = this.#side.sql("SELECT min(due) AS due FROM a2a_push WHERE attempts > 0").get();
    return (row as { due: number | null }).due ?? undefined;
  }

  arrived({ task, id }: PushConfig, { turn, sent, told }: Pick<PushConfig, "turn" | "sent" | "told">): void {
    this.#side
      .sql(
        "UPDATE a2a_push SET turn = ?, sent = ?, told = ?, attempts = 0, outcome = NULL WHERE task = ? AND id = ?",
      )
      .run(turn, sent, told, task, id);
  }

  failed({ task, id }: PushConfig, { due, outcome }: { due: number | null; outcome: string }): void {
    this.#side
      .sql("UPDATE a2a_push SET attempts = attempts + 1, due = ?, outcome = ? WHERE task = ? AND id = ?")
      .run(due, outcome, task, id);
  }

  /** The task has ended and its end has arrived. */
  over({ task, id }: PushConfig, at: number): void {
    this.#side
      .sql("UPDATE a2a_push SET due = NULL, outcome = 'over', at = ? WHERE task = ? AND id = ?")
      .run(at, task, id);
  }
}

const tasksOf = (rows: readonly object[]): readonly string[] =>
  rows.map((row) => (row as { task: string }).task);
