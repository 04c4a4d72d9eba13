// Reads snapshots and checks them by their sums, which also tie them to the turn they stand for.

import type { DatabaseSync } from "node:sqlite";
import type { Json } from "../../base/json.ts";
import { corrupt } from "../journal/damage.ts";
import { FOLD_VERSION, type LogRef } from "../journal/snapshot.ts";
import { unsqueeze } from "../journal/squeeze.ts";
import { sumOf } from "../journal/turn-hash.ts";
import { keyOf, turnOf } from "./schema.ts";
import type { RunNumber } from "./turn-reader.ts";

interface SnapshotCells {
  readonly id: number;
  readonly bytes: number;
  readonly covers: number;
  readonly logs: string;
  readonly data: Uint8Array;
  readonly sum: string;
  readonly hash: string;
}

interface PartCells {
  readonly start: number;
  readonly items: Uint8Array;
  readonly sum: string;
}

export interface ReadSnapshot {
  readonly turn: number;
  /** As stored. */
  readonly bytes: number;
  /** Bytes of the journal up to its turn. */
  readonly covers: number;
  /** The run without its logs, as JSON. */
  readonly data: string;
  readonly refs: readonly LogRef[];
}

export class SnapshotReader {
  readonly #sql: ReturnType<typeof statements>;

  constructor(db: DatabaseSync) {
    this.#sql = statements(db);
  }

  /** The newest snapshot of turns `from` to `last`; throws when it is damaged. */
  newest({ run, name }: RunNumber, from: number, last: number): ReadSnapshot | undefined {
    const cells = this.#sql.newest.get(keyOf(run, from), keyOf(run, last), FOLD_VERSION) as
      | SnapshotCells
      | undefined;
    if (cells === undefined) return undefined;
    const { bytes, covers, logs, data } = cells;
    const turn = turnOf(cells.id);
    if (sumOf([FOLD_VERSION, bytes, covers, logs, cells.hash], data) !== cells.sum) {
      throw corrupt(`snapshot of turn ${turn} of run ${name}`, "it does not fit its sum");
    }
    return { turn, bytes, covers, data: unsqueeze(data), refs: JSON.parse(logs) as readonly LogRef[] };
  }

  /** Items of a stored log from `start` on; throws when a part is damaged or missing. */
  logItems([log, length]: LogRef, start = 0): readonly Json[] {
    const items: Json[] = [];
    for (const part of this.#sql.parts.all(log, start, length) as unknown as readonly PartCells[]) {
      const fits = part.start === start + items.length && sumOf([log, part.start], part.items) === part.sum;
      if (!fits) throw corrupt(`log ${log}`, `its part at ${part.start} does not fit`);
      for (const item of JSON.parse(unsqueeze(part.items)) as Json[]) items.push(item);
    }
    if (start + items.length !== length) throw corrupt(`log ${log}`, "a part is missing");
    return items;
  }

  /** Turns that have a snapshot. */
  turns({ run }: RunNumber, last: number): ReadonlySet<number> {
    const found = this.#sql.turns.all(keyOf(run, 1), keyOf(run, last), FOLD_VERSION) as { id: number }[];
    return new Set(found.map(({ id }) => turnOf(id)));
  }
}

function statements(db: DatabaseSync) {
  return {
    newest:
      db.prepare(`SELECT s.id, s.bytes, s.covers, s.logs, s.data, lower(hex(s.sum)) AS sum, lower(hex(t.hash)) AS hash
      FROM snapshot s LEFT JOIN turn t ON t.id = s.id
      WHERE s.id BETWEEN ? AND ? AND s.fold = ? ORDER BY s.id DESC LIMIT 1`),
    parts: db.prepare(`SELECT start, items, lower(hex(sum)) AS sum FROM log_part
      WHERE log = ? AND start >= ? AND start < ? ORDER BY start`),
    turns: db.prepare("SELECT id FROM snapshot WHERE id BETWEEN ? AND ? AND fold = ?"),
  };
}
