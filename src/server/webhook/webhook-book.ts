// Webhooks and what is to be delivered to them, in the server's side file. How far a webhook has been told of
// a run is kept with what is still to be delivered, in one transaction: a crash neither loses an event nor
// makes one up.

import { randomBytes } from "node:crypto";
import type { CloudEvent, EventType } from "../cloud-event.ts";
import type { SideFile } from "../side-file.ts";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS webhook (
  id TEXT PRIMARY KEY, url TEXT NOT NULL, secret TEXT NOT NULL, types TEXT NOT NULL, at INTEGER NOT NULL,
  off TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS old_secret (
  webhook TEXT NOT NULL, secret TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (webhook, secret)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS slow (webhook TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS told (
  webhook TEXT NOT NULL, run TEXT NOT NULL, turn INTEGER NOT NULL, PRIMARY KEY (webhook, run)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS delivery (
  number INTEGER PRIMARY KEY AUTOINCREMENT, webhook TEXT NOT NULL, event TEXT NOT NULL, type TEXT NOT NULL,
  body TEXT NOT NULL, attempts INTEGER NOT NULL, due INTEGER, outcome TEXT, at INTEGER NOT NULL,
  UNIQUE (webhook, event)
) STRICT;
CREATE INDEX IF NOT EXISTS delivery_due ON delivery (due) WHERE due IS NOT NULL;
CREATE TABLE IF NOT EXISTS looked (one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL) STRICT;
`;

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  /** Empty: every type. */
  readonly types: readonly EventType[];
  readonly at: number;
  /** Why nothing is delivered to it any more. */
  readonly off: string | null;
}

export interface Delivery {
  readonly number: number;
  readonly webhook: string;
  readonly event: string;
  readonly type: string;
  readonly body: string;
  readonly attempts: number;
  /** Null once it is over. */
  readonly due: number | null;
  readonly outcome: string | null;
  readonly at: number;
}

export class WebhookBook {
  readonly #side: SideFile;

  constructor(side: SideFile) {
    this.#side = side;
    side.db.exec(SCHEMA);
  }

  add(webhook: Omit<Webhook, "id" | "off">): Webhook {
    const id = `wh_${randomBytes(9).toString("base64url")}`;
    const { url, secret, types, at } = webhook;
    this.#side
      .sql("INSERT INTO webhook VALUES (?, ?, ?, ?, ?, NULL)")
      .run(id, url, secret, JSON.stringify(types), at);
    return { ...webhook, id, off: null };
  }

  all(): readonly Webhook[] {
    return this.#side.sql("SELECT * FROM webhook ORDER BY at DESC, id").all().map(webhookOf);
  }

  find(id: string): Webhook | undefined {
    const row = this.#side.sql("SELECT * FROM webhook WHERE id = ?").get(id);
    return row === undefined ? undefined : webhookOf(row);
  }

  remove(id: string): void {
    this.#together(() => {
      for (const table of ["delivery", "told", "old_secret", "slow"])
        this.#side.sql(`DELETE FROM ${table} WHERE webhook = ?`).run(id);
      this.#side.sql("DELETE FROM webhook WHERE id = ?").run(id);
    });
  }

  /** The old secret goes on signing until then. */
  rotate(id: string, secret: string, until: number): void {
    this.#together(() => {
      this.#side
        .sql("INSERT OR REPLACE INTO old_secret SELECT id, secret, ? FROM webhook WHERE id = ?")
        .run(until, id);
      this.#side.sql("UPDATE webhook SET secret = ? WHERE id = ?").run(secret, id);
      this.#side.sql("DELETE FROM old_secret WHERE webhook = ? AND secret = ?").run(id, secret);
    });
  }

  /** The newest first, and those that were in use lately. */
  secretsOf({ id, secret }: Webhook, now: number): readonly string[] {
    const old = this.#side
      .sql("SELECT secret FROM old_secret WHERE webhook = ? AND until > ? ORDER BY until DESC")
      .all(id, now) as { secret: string }[];
    return [secret, ...old.map((one) => one.secret)];
  }

  /** Told again from now on, beginning with what happens next. */
  switchOn(id: string): void {
    this.#side.sql("UPDATE webhook SET off = NULL WHERE id = ?").run(id);
  }

  /** Whatever waits for it, and what comes meanwhile, waits until then at least. */
  slowDown(id: string, until: number): void {
    this.#together(() => {
      this.#side.sql("INSERT OR REPLACE INTO slow VALUES (?, ?)").run(id, until);
      this.#side.sql("UPDATE delivery SET due = ? WHERE webhook = ? AND due < ?").run(until, id, until);
    });
  }

  #slowUntil(id: string): number {
    const row = this.#side.sql("SELECT until FROM slow WHERE webhook = ?").get(id);
    return (row as { until: number } | undefined)?.until ?? 0;
  }

  /** What waits for it is given up as well. */
  switchOff(id: string, why: string): void {
    this.#together(() => {
      this.#side.sql("UPDATE webhook SET off = ? WHERE id = ?").run(why, id);
      this.#side
        .sql("UPDATE delivery SET due = NULL, outcome = ? WHERE webhook = ? AND due IS NOT NULL")
        .run(why, id);
    });
  }

  /** The last turn of the run that it was told of. */
  told(webhook: string, run: string): number | undefined {
    const row = this.#side.sql("SELECT turn FROM told WHERE webhook = ? AND run = ?").get(webhook, run);
    return (row as { turn: number } | undefined)?.turn;
  }

  /** From here on this is told, and these events are to be delivered. */
  tell(
    webhook: string,
    { run, turn, events, at }: { run: string; turn: number; events: readonly CloudEvent[]; at: number },
  ): void {
    this.#together(() => {
      this.#side.sql("INSERT OR REPLACE INTO told VALUES (?, ?, ?)").run(webhook, run, turn);
      const insert = this.#side.sql(
        "INSERT OR IGNORE INTO delivery VALUES (NULL, ?, ?, ?, ?, 0, ?, NULL, ?)",
      );
      const due = Math.max(at, this.#slowUntil(webhook));
      for (const event of events) insert.run(webhook, event.id, event.type, JSON.stringify(event), due, at);
    });
  }

  /** Runs that were removed. */
  forgetRuns(runs: readonly string[]): void {
    const sql = this.#side.sql("DELETE FROM told WHERE run = ?");
    for (const run of runs) sql.run(run);
  }

  due(now: number, limit: number): readonly Delivery[] {
    const rows = this.#side
      .sql("SELECT * FROM delivery WHERE due <= ? ORDER BY due, number LIMIT ?")
      .all(now, limit);
    return rows as unknown as readonly Delivery[];
  }

  nextDue(): number | undefined {
    const row = this.#side.sql("SELECT min(due) AS due FROM delivery WHERE due IS NOT NULL").get();
    return (row as { due: number | null }).due ?? undefined;
  }

  delivery(webhook: string, event: string): Delivery | undefined {
    const sql = this.#side.sql("SELECT * FROM delivery WHERE webhook = ? AND event = ?");
    return sql.get(webhook, event) as unknown as Delivery | undefined;
  }

  /** The newest first. */
  deliveries(webhook: string, limit: number): readonly Delivery[] {
    const sql = this.#side.sql("SELECT * FROM delivery WHERE webhook = ? ORDER BY number DESC LIMIT ?");
    return sql.all(webhook, limit) as unknown as readonly Delivery[];
  }

  attempted(number: number, { due, outcome }: { due: number | null; outcome: string }): void {
    this.#side
      .sql("UPDATE delivery SET attempts = attempts + 1, due = ?, outcome = ? WHERE number = ?")
      .run(due, outcome, number);
  }

  again(number: number, due: number): void {
    this.#side.sql("UPDATE delivery SET attempts = 0, due = ? WHERE number = ?").run(due, number);
  }

  /** When every run was last looked at, so that older ones need no look. */
  get looked(): number {
    return (this.#side.sql("SELECT at FROM looked").get() as { at: number } | undefined)?.at ?? 0;
  }

  set looked(at: number) {
    this.#side.sql("INSERT OR REPLACE INTO looked VALUES (1, ?)").run(at);
  }

  /** Deliveries that are over and old. */
  forget(before: number): void {
    this.#side.sql("DELETE FROM delivery WHERE due IS NULL AND at < ?").run(before);
  }

  #together(work: () => void): void {
    const { db } = this.#side;
    db.exec("BEGIN IMMEDIATE");
    try {
      work();
      db.exec("COMMIT");
    } catch (error) {
      db.exec("ROLLBACK");
      throw error;
    }
  }
}

function webhookOf(row: object): Webhook {
  const { types, ...rest } = row as Omit<Webhook, "types"> & { types: string };
  return { ...rest, types: JSON.parse(types) as readonly EventType[] };
}
