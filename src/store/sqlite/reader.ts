// Reads of one connection. Every row is checked before it is used: turns by their chain, others by their
// sums. A damaged snapshot is passed over, since the journal can be folded without it.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { JsonObject } from "../../base/json.ts";
import type { TurnRow } from "../../core/facts.ts";
import type { Run } from "../../core/run.ts";
import type { AskingRun, RunFilter, RunRecord, StoredRun } from "../../engine/ports.ts";
import { fromColumn, toColumn } from "../journal/column-text.ts";
import { corrupt } from "../journal/damage.ts";
import { overdue, type RecordRow, recordOfRow } from "../journal/run-record.ts";
import { type LogRef, putTogether } from "../journal/snapshot.ts";
import { unsqueeze } from "../journal/squeeze.ts";
import { NO_HASH, sumOf, turnHash } from "../journal/turn-hash.ts";
import { newestTurn } from "./schema.ts";
import { type ReadSnapshot, SnapshotReader } from "./snapshot-reader.ts";
import { decoded } from "./store-fault.ts";
import { missing, TurnReader } from "./turn-reader.ts";

export interface ReadRun extends StoredRun {
  /** Logs of the snapshot, in its order. */
  readonly refs: readonly LogRef[];
  /** Bytes of turns that wait for a snapshot, when there are enough of them; otherwise 0. */
  readonly overdue: number;
}

/** A run with its newest turn and its `head`. */
export interface RunRow extends RecordRow {
  readonly run: number;
  readonly at: number;
  readonly v: number;
  readonly bytes: number;
  readonly content: string;
  readonly hash: string;
  readonly before: string;
  readonly head_turn: number;
  readonly head_hash: string;
  readonly status: string;
  readonly work: number;
  readonly due: number | null;
}

/** Sorts after every character a name can go on with. */
const LAST = "\u{10ffff}";

export class Reader {
  readonly turns: TurnReader;
  readonly snapshots: SnapshotReader;
  readonly #db: DatabaseSync;
  readonly #sql: ReturnType<typeof statements> & { readonly asking: StatementSync };

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#sql = { ...statements(db), asking: db.prepare(askingSql(db)) };
    this.turns = new TurnReader(db);
    this.snapshots = new SnapshotReader(db);
  }

  load(name: string, upTo: number): ReadRun | undefined {
    return this.#together(name, (row) => {
      const last = Math.max(0, Math.min(upTo, row.turn));
      const snapshot = this.#usable(row, last);
      const rows = this.turns.turns(row, (snapshot?.turn ?? 0) + 1, last);
      const sizes = { bytes: row.bytes, covers: snapshot?.covers ?? 0, snapshot: snapshot?.bytes ?? 0 };
      const isNewest = last === row.turn;
      return {
        snapshot: snapshot?.run,
        rows,
        record: checkedRecord(row),
        refs: snapshot?.refs ?? [],
        overdue: isNewest ? overdue(sizes) : 0,
      };
    });
  }

  rows(name: string, { from, to, limit }: { from: number; to: number; limit: number }): readonly TurnRow[] {
    const found = this.#together(name, (row) => {
      const first = Math.max(1, from);
      const last = Math.min(to, row.turn, first + limit - 1);
      return last < first ? [] : this.turns.turns(row, first, last);
    });
    return found ?? [];
  }

  record(name: string): RunRecord | undefined {
    return this.#together(name, checkedRecord);
  }

  /** Newest first. */
  list({ status, packId, parent, before, limit }: RunFilter): readonly RunRecord[] {
    const last = before === undefined ? Number.MAX_SAFE_INTEGER : this.#number(before);
    if (last === undefined) return [];
    // Whichever table narrows the choice gives the order, too; the other one's index would have to be sorted.
    const number = packId === undefined && parent === undefined ? "h.run" : "r.id";
    const given = [
      { test: `${number} < ?`, value: last },
      { test: "r.pack_id = ?", value: packId === undefined ? undefined : toColumn(packId) },
      { test: "r.parent = ?", value: parent === undefined ? undefined : toColumn(parent) },
    ].filter(({ value }) => value !== undefined);
    const values = given.map(({ value }) => value as string | number);
    const tests = given.map(({ test }) => test).join(" AND ");
    const select = (where: string) =>
      this.#db.prepare(`SELECT h.run FROM head h JOIN run r ON r.id = h.run
        WHERE ${where} ORDER BY ${number} DESC LIMIT ?`);
    // Each status is looked up by itself: the index gives its runs in order.
    const byStatus = select(`${tests} AND h.status = ?`);
    const found = (
      status === undefined
        ? select(tests).all(...values, limit)
        : [...new Set(status)].flatMap((one) => byStatus.all(...values, one, limit))
    ) as { run: number }[];
    const numbers = found.map(({ run }) => run).sort((a, b) => b - a);
    return numbers.slice(0, limit).map((run) => this.#recordOf(run));
  }

  /** The longest waiting first. */
  asking({ after, limit }: { readonly after?: string; readonly limit: number }): readonly AskingRun[] {
    const [since = Number.NaN, number = Number.NaN] = (after ?? "-1 -1").split(" ").map(Number);
    if (Number.isNaN(since) || Number.isNaN(number)) return [];
    const rows = this.#sql.asking.all(since, number, limit) as { name: string; run: number; since: number }[];
    return rows.map((row) => ({ run: fromColumn(row.name), place: `${row.since} ${row.run}` }));
  }

  names({ prefix, limit }: { prefix: string; limit: number }): readonly string[] {
    const rows =
      prefix === "" ? this.#sql.allNames.all(limit) : this.#sql.names.all(prefix, `${prefix}${LAST}`);
    const names = (rows as { name: string }[]).map(({ name }) =>
      decoded("a run's name", () => fromColumn(name)),
    );
    return names.filter((name) => name.startsWith(prefix)).slice(0, limit);
  }

  runnable(now: number, limit: number): readonly string[] {
    return (this.#sql.runnable.all(now, limit) as { name: string }[]).map(({ name }) => fromColumn(name));
  }

  nextDue(): number | undefined {
    return (this.#sql.nextDue.get() as { due: number | null }).due ?? undefined;
  }

  find(key: string): string | undefined {
    const found = this.#sql.find.get(toColumn(key)) as { name: string } | undefined;
    return found === undefined ? undefined : fromColumn(found.name);
  }

  program(digest: string): { readonly program: JsonObject; readonly source: string } | undefined {
    return decoded(`program ${digest}`, () => {
      const column = toColumn(digest);
      const found = this.#sql.program.get(column);
      if (found === undefined) return undefined;
      const { program, source, sum } = found as { program: Uint8Array; source: Uint8Array; sum: string };
      if (sumOf([column], program, source) !== sum) throw new Error("it does not fit its sum");
      return { program: JSON.parse(unsqueeze(program)) as JsonObject, source: unsqueeze(source) };
    });
  }

  /** Unchecked; undefined when there is no such run. */
  row(name: string): RunRow | undefined {
    const run = this.#number(name);
    return run === undefined ? undefined : this.#row(run);
  }

  #number(name: string): number | undefined {
    return (this.#sql.number.get(toColumn(name)) as { id: number } | undefined)?.id;
  }

  #row(run: number): RunRow {
    const row = this.#sql.row.get(run) as RunRow | { readonly name: string; readonly turn: null };
    if (row.turn === null) throw missing(fromColumn(row.name), 1);
    return row;
  }

  #recordOf(run: number): RunRecord {
    return decoded(`run number ${run}`, () => checkedRecord(this.#row(run)));
  }

  #usable(row: RunRow, last: number): (ReadSnapshot & { readonly run: Run }) | undefined {
    try {
      const snapshot = this.snapshots.newest(row, 1, last);
      if (snapshot === undefined) return undefined;
      const logs = snapshot.refs.map((ref) => this.snapshots.logItems(ref));
      return { ...snapshot, run: putTogether(snapshot.data, logs) };
    } catch {
      // `verify` reports it. Here the journal says the same, only slower.
      return undefined;
    }
  }

  /** Several reads of one moment about one run; undefined when there is none. */
  #together<T>(name: string, read: (row: RunRow) => T): T | undefined {
    this.#sql.begin.run();
    try {
      return decoded(`run ${name}`, () => {
        const row = this.row(name);
        return row === undefined ? undefined : read(row);
      });
    } finally {
      if (this.#db.isTransaction) this.#sql.commit.run();
    }
  }
}

/** The record, after its newest turn was checked and found to be no older than `head` says. */
export function checkedRecord(row: RunRow): RunRecord {
  const name = fromColumn(row.name);
  if (row.turn < row.head_turn) throw missing(name, row.turn + 1);
  const fits = turnHash(row.before, row) === row.hash;
  if (!fits || (row.turn === row.head_turn && row.hash !== row.head_hash)) {
    throw corrupt(`turn ${row.turn} of run ${name}`, "its hash does not fit");
  }
  return recordOfRow(row);
}

/** A file of format 1 that is only read has no `inbox`: then every run that is not over is looked at. */
function askingSql(db: DatabaseSync): string {
  const has = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'inbox'").get() !== undefined;
  const open = `(SELECT h.run, t.at AS since FROM head h JOIN turn t ON t.id = ${newestTurn("h.run")}
    WHERE h.status IN ('waiting', 'running'))`;
  return `SELECT r.name, i.run, i.since FROM ${has ? "inbox" : open} i JOIN run r ON r.id = i.run
    WHERE (i.since, i.run) > (?, ?) ORDER BY i.since, i.run LIMIT ?`;
}

function statements(db: DatabaseSync) {
  return {
    begin: db.prepare("BEGIN"),
    commit: db.prepare("COMMIT"),
    number: db.prepare("SELECT id FROM run WHERE name = ?"),
    row: db.prepare(`SELECT r.id AS run, r.name, r.key, r.digest, r.pack_id, r.pack_version, r.setup, r.parent,
        r.started_at, lower(hex(r.sum)) AS sum, t.turn, t.at, t.v, t.bytes, t.standing, t.summary,
        coalesce(t.facts, lower(hex(t.blob))) AS content, lower(hex(t.hash)) AS hash,
        iif(p.id IS NULL, '${NO_HASH}', lower(hex(p.hash))) AS before,
        h.turn AS head_turn, lower(hex(h.hash)) AS head_hash, h.status, h.work, h.due
      FROM run r LEFT JOIN head h ON h.run = r.id LEFT JOIN turn t ON t.id = ${newestTurn("r.id")}
        LEFT JOIN turn p ON p.id = t.id - 1 AND p.run = r.id
      WHERE r.id = ?`),
    // Past the index: one that is damaged would hide runs from those who look for damage.
    allNames: db.prepare("SELECT name FROM run NOT INDEXED ORDER BY id DESC LIMIT ?"),
    // Names that no column can say stand behind a mark, whatever they begin with.
    names: db.prepare(`SELECT name FROM run
      WHERE name BETWEEN ? AND ? OR name BETWEEN char(1) AND char(2) ORDER BY id DESC`),
    runnable: db.prepare(`SELECT r.name FROM run r
      WHERE r.id IN (SELECT run FROM head WHERE work = 1 UNION SELECT run FROM head WHERE due <= ?)
      ORDER BY r.id LIMIT ?`),
    nextDue: db.prepare("SELECT min(due) AS due FROM head WHERE due IS NOT NULL"),
    find: db.prepare("SELECT name FROM run WHERE key = ?"),
    // Past the index: programs are few, and one that a damaged index hides would seem never to have been put.
    program: db.prepare(
      `SELECT program, source, lower(hex(sum)) AS sum FROM program NOT INDEXED WHERE digest = ?`,
    ),
  };
}
