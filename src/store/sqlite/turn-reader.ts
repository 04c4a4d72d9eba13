// Reads turns and checks each by its hash and the hash before it.

import type { DatabaseSync } from "node:sqlite";
import type { Fact, TurnRow } from "../../core/facts.ts";
import { corrupt } from "../journal/damage.ts";
import { unsqueeze } from "../journal/squeeze.ts";
import { NO_HASH, textHash, turnHash } from "../journal/turn-hash.ts";
import { unpackText } from "../journal/turn-text.ts";
import { keyOf, turnOf } from "./schema.ts";
import { decoded } from "./store-fault.ts";

/** Which run is read: its number in the file, and its name for messages. */
export interface RunNumber {
  readonly run: number;
  readonly name: string;
}

type TurnCells = readonly [
  id: number,
  at: number,
  v: number,
  bytes: number,
  standing: string,
  summary: string,
  facts: string | null,
  blob: string,
  hash: string,
];

export class TurnReader {
  readonly #sql: ReturnType<typeof statements>;

  constructor(db: DatabaseSync) {
    this.#sql = statements(db);
  }

  /** Turns `from` to `last`, all of them there. */
  turns({ run, name }: RunNumber, from: number, last: number): readonly TurnRow[] {
    const rows: TurnRow[] = [];
    let before = this.hashOf(run, from - 1);
    const found = this.#sql.turns.all(keyOf(run, from), keyOf(run, last)) as unknown as readonly TurnCells[];
    const present = () => `turn ${from + rows.length} of run ${name}`;
    decoded(present, () => {
      for (const cells of found) {
        const turn = from + rows.length;
        if (before === undefined || turnOf(cells[0]) !== turn) throw missing(name, turn);
        rows.push(this.#turn(turn, cells, before));
        before = cells[8];
      }
    });
    if (rows.length <= last - from) throw missing(name, from + rows.length);
    return rows;
  }

  /** The hash that a turn carries; undefined when it is not there. */
  hashOf(run: number, turn: number): string | undefined {
    if (turn === 0) return NO_HASH;
    return (this.#sql.hash.get(keyOf(run, turn)) as { hash: string } | undefined)?.hash;
  }

  #turn(turn: number, cells: TurnCells, before: string): TurnRow {
    const [, at, v, bytes, standing, summary, facts, blob, hash] = cells;
    const content = facts ?? blob;
    if (turnHash(before, { turn, at, v, bytes, standing, summary, content }) !== hash)
      throw new Error("its hash does not fit");
    const text = facts === null ? this.#blob(blob) : unpackText(facts);
    return { turn, at, v, facts: JSON.parse(text) as readonly Fact[] };
  }

  #blob(name: string): string {
    const found = this.#sql.blob.get(name) as { data: Uint8Array } | undefined;
    if (found === undefined) throw new Error("its blob is missing");
    const text = unsqueeze(found.data);
    if (textHash(text) !== name) throw new Error("its blob does not fit its name");
    return text;
  }
}

export const missing = (name: string, turn: number) =>
  corrupt(`turn ${turn} of run ${name}`, "it is missing");

function statements(db: DatabaseSync) {
  const turns =
    db.prepare(`SELECT id, at, v, bytes, standing, summary, facts, lower(hex(blob)), lower(hex(hash))
    FROM turn WHERE id BETWEEN ? AND ? ORDER BY id`);
  turns.setReturnArrays(true);
  return {
    turns,
    hash: db.prepare("SELECT lower(hex(hash)) AS hash FROM turn WHERE id = ?"),
    blob: db.prepare("SELECT data FROM blob WHERE hash = unhex(?)"),
  };
}
