// The order of all turns of all runs, as followers of everything see it. It holds places, not turns: those
// are in the journals. Written without a sync, which a killed process does not need; after a loss of power
// places may be missing, so every start leaves a gap behind the last one, and nobody's place is given out
// twice.

import type { Store } from "../engine/ports.ts";
import type { SideFile } from "./side-file.ts";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS stream (
  position INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, turn INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS stream_run ON stream (run, turn);
`;

/** More than could be written between two syncs. */
const GAP = 2 ** 20;

/** Places that are kept at least; who comes back later has to look at the list again. */
const KEPT = 100_000;

/** Runs of the last places, whose newest turns a killed process may have left out. */
const LOOKED_AT = 1_000;

/** Turns of one run that are made up for. */
const MISSED_MAX = 10_000;

export interface Place {
  readonly position: number;
  readonly run: string;
  readonly turn: number;
}

export class StreamLog {
  readonly #side: SideFile;
  readonly #told: () => void;
  #waiting: { readonly run: string; readonly turn: number }[] = [];
  #last: number;
  #first: number;
  #count: number;

  /** `told` is called when there are new places. */
  constructor(side: SideFile, told: () => void) {
    this.#side = side;
    this.#told = told;
    side.loose.exec(SCHEMA);
    const { last, first, count } = side
      .quick(
        "SELECT ifnull(max(position), 0) AS last, ifnull(min(position), 0) AS first, count(*) AS count FROM stream",
      )
      .get() as { last: number; first: number; count: number };
    this.#first = first;
    this.#count = count;
    this.#last = last === 0 ? 0 : last + GAP;
  }

  /** The newest place. */
  get last(): number {
    return this.#last;
  }

  /** Whether nothing after the position has been dropped. */
  holds(position: number): boolean {
    return position >= this.#first - 1;
  }

  /** Written when the moment's other turns are there as well. */
  add(run: string, turn: number): void {
    if (this.#waiting.length === 0) setImmediate(() => this.flush());
    this.#waiting.push({ run, turn });
  }

  /** All turns up to this one that have no place yet: some may be of other processes. */
  reach(run: string, turn: number): void {
    this.flush();
    const { placed } = this.#side.quick("SELECT max(turn) AS placed FROM stream WHERE run = ?").get(run) as {
      placed: number | null;
    };
    const first = Math.max((placed ?? 0) + 1, turn - MISSED_MAX);
    for (let next = first; next <= turn; next++) this.add(run, next);
  }

  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    const { loose } = this.#side;
    const insert = this.#side.quick("INSERT INTO stream VALUES (?, ?, ?)");
    loose.exec("BEGIN IMMEDIATE");
    for (const { run, turn } of waiting) insert.run(++this.#last, run, turn);
    this.#count += waiting.length;
    if (this.#count > KEPT * 1.5) this.#dropOld();
    loose.exec("COMMIT");
    this.#told();
  }

  #dropOld(): void {
    const oldest = this.#side
      .quick("SELECT position FROM stream ORDER BY position DESC LIMIT 1 OFFSET ?")
      .get(KEPT - 1) as { position: number };
    this.#side.quick("DELETE FROM stream WHERE position < ?").run(oldest.position);
    this.#first = oldest.position;
    this.#count = KEPT;
  }

  after(position: number, limit: number): readonly Place[] {
    const sql = this.#side.quick("SELECT * FROM stream WHERE position > ? ORDER BY position LIMIT ?");
    return sql.all(position, limit) as unknown as readonly Place[];
  }

  /** Before the first new turn: what a killed process committed last may have no place yet. */
  async makeUp(store: Store): Promise<void> {
    const recent = this.#side
      .quick(
        "SELECT run, max(turn) AS turn FROM stream WHERE position > ? GROUP BY run ORDER BY max(position)",
      )
      .all(this.#last - GAP - LOOKED_AT) as unknown as readonly Omit<Place, "position">[];
    for (const { run, turn } of recent) {
      const names = await store.names({ prefix: run, limit: 1 });
      if (names.length === 0) continue;
      const rows = await store.rows(run, { from: turn + 1, to: turn + MISSED_MAX, limit: MISSED_MAX });
      for (const row of rows) this.#waiting.push({ run, turn: row.turn });
    }
    this.flush();
  }
}
