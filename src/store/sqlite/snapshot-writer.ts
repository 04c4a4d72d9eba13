// Writes snapshots inside the transaction of the turn they stand for. Each weighs no more than the turns
// since the one before, so all snapshots of a run together weigh less than its journal.

import type { DatabaseSync } from "node:sqlite";
import type { Sizes } from "../journal/run-record.ts";
import { FOLD_VERSION, type LogRef, type LogWrite, type SnapshotWrite } from "../journal/snapshot.ts";
import { squeeze } from "../journal/squeeze.ts";
import { sumOf } from "../journal/turn-hash.ts";
import type { SnapshotReply } from "./requests.ts";
import { keyOf, TURN_MAX } from "./schema.ts";

/** All zero when there is none. */
export type NewestSnapshot = Omit<Sizes, "bytes">;

interface Part extends LogWrite {
  readonly data: Uint8Array;
}

export class SnapshotWriter {
  readonly #sql: ReturnType<typeof statements>;

  constructor(db: DatabaseSync) {
    this.#sql = statements(db);
  }

  write(
    at: { readonly run: number; readonly hash: string; readonly bytes: number },
    turn: number,
    snapshot: SnapshotWrite,
  ): SnapshotReply {
    if (!snapshot.logs.every((log) => this.#fits(at.run, log))) return { kind: "stale" };
    const data = squeeze(snapshot.data);
    const parts = snapshot.logs.map((log): Part => ({ ...log, data: squeeze(log.items) }));
    const bytes = parts.reduce((total, part) => total + part.data.length, data.length);
    if (bytes > at.bytes - this.newest(at.run).covers) return { kind: "large", bytes };
    const refs = parts.map((part): LogRef => [this.#append(at.run, part), part.length]);
    const logs = JSON.stringify(refs);
    const sum = sumOf([FOLD_VERSION, bytes, at.bytes, logs, at.hash], data);
    this.#sql.insert.run(keyOf(at.run, turn), FOLD_VERSION, bytes, at.bytes, logs, data, sum);
    return { kind: "written", logs: refs.map(([log]) => log) };
  }

  newest(run: number): NewestSnapshot {
    const found = this.#sql.newest.get(keyOf(run, 0), keyOf(run, TURN_MAX));
    return (found as NewestSnapshot | undefined) ?? { covers: 0, snapshot: 0 };
  }

  /** A log is continued only by its own run, and only from its end. */
  #fits(run: number, { log, start }: LogWrite): boolean {
    if (log === 0) return true;
    const kept = this.#sql.log.get(log) as { run: number; length: number } | undefined;
    return kept !== undefined && kept.run === run && kept.length === start;
  }

  #append(run: number, { log, start, length, data }: Part): number {
    if (length === start) return log;
    const number = log === 0 ? Number(this.#sql.insertLog.run(run, length).lastInsertRowid) : log;
    if (log !== 0) this.#sql.growLog.run(length, log);
    this.#sql.insertPart.run(number, start, data, sumOf([number, start], data));
    return number;
  }
}

function statements(db: DatabaseSync) {
  return {
    insert: db.prepare(`INSERT INTO snapshot (id, fold, bytes, covers, logs, data, sum)
      VALUES (?, ?, ?, ?, ?, ?, unhex(?))`),
    newest: db.prepare(`SELECT covers, bytes AS snapshot FROM snapshot
      WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1`),
    log: db.prepare("SELECT run, length FROM log WHERE id = ?"),
    insertLog: db.prepare("INSERT INTO log (run, length) VALUES (?, ?)"),
    growLog: db.prepare("UPDATE log SET length = ? WHERE id = ?"),
    insertPart: db.prepare("INSERT INTO log_part (log, start, items, sum) VALUES (?, ?, ?, unhex(?))"),
  };
}
