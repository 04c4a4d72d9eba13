// A turn as its columns: the same texts and the same chain of hashes as in SQLite, so that a run keeps its
// hashes wherever it is moved.

import type { TurnRow } from "../../core/facts.ts";
import type { Run } from "../../core/run.ts";
import { fromColumn, toColumn } from "../journal/column-text.ts";
import { standingOf, turnColumns } from "../journal/run-record.ts";
import { NO_HASH, turnHash } from "../journal/turn-hash.ts";
import { packText, unpackText } from "../journal/turn-text.ts";

/** Where a journal stands: what the next turn goes on from. */
export interface Position {
  readonly turn: number;
  readonly hash: string;
  readonly bytes: number;
}

export const START: Position = { turn: 0, hash: NO_HASH, bytes: 0 };

/** The values of one turn, and of the head that goes with it. */
export interface TurnValues extends Position {
  readonly before: string;
  readonly at: number;
  readonly v: number;
  readonly standing: string;
  readonly summary: string;
  readonly facts: string;
  readonly status: string;
  readonly work: boolean;
  readonly due: number | null;
}

export function turnValues(before: Position, row: TurnRow, after: Run): TurnValues {
  const { turn, at, v } = row;
  const facts = packText(JSON.stringify(row.facts));
  const { standing, summary } = turnColumns(after);
  const bytes = before.bytes + Buffer.byteLength(facts);
  const hash = turnHash(before.hash, { turn, at, v, bytes, standing, summary, content: facts });
  const { status, work, due } = standingOf(standing);
  return {
    ...{ turn, at, v, standing, summary, facts, bytes, hash, before: before.hash },
    ...{ status, work: work === 1, due },
  };
}

export const factsOf = (column: string): TurnRow["facts"] =>
  JSON.parse(unpackText(column)) as TurnRow["facts"];

/** PostgreSQL's texts cannot hold a NUL. */
export const toText = (text: string): string =>
  text.includes("\0") ? `\u0001${JSON.stringify(text)}` : toColumn(text);

export const toTextOrNull = (text: string | null): string | null => (text === null ? null : toText(text));

export const fromText = fromColumn;
