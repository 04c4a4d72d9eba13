// A run's record as the file holds it: what it was created with in `run`, what turns change in its newest
// turn.

import { assert } from "../../base/assert.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Status } from "../../core/facts.ts";
import type { Run } from "../../core/run.ts";
import type { RunCreation, RunRecord } from "../../engine/ports.ts";
import { progressOf, wantsSomebody, wantsWork } from "../record.ts";
import { fromColumn, toColumn } from "./column-text.ts";
import { corrupt } from "./damage.ts";
import { sumOf } from "./turn-hash.ts";

/** Columns of `run`, without its number. */
export interface RunColumns {
  readonly name: string;
  readonly key: string | null;
  readonly digest: string;
  readonly pack_id: string;
  readonly pack_version: string;
  readonly setup: string;
  readonly parent: string | null;
  readonly started_at: number;
}

export function runColumns(record: RunRecord): RunColumns {
  return {
    name: toColumn(record.run),
    key: record.key === null ? null : toColumn(record.key),
    digest: toColumn(record.digest),
    pack_id: toColumn(record.packId),
    pack_version: toColumn(record.packVersion),
    setup: JSON.stringify(record.setup),
    parent: record.parent === null ? null : toColumn(record.parent),
    started_at: record.startedAt,
  };
}

export const runSum = (run: RunColumns): string =>
  sumOf([
    run.name,
    run.key,
    run.digest,
    run.pack_id,
    run.pack_version,
    run.setup,
    run.parent,
    run.started_at,
  ]);

/** What runs are found by: status, whether it wants work or somebody's word, when it is due. */
export interface Standing {
  readonly status: Status;
  readonly work: 0 | 1;
  /** Not known of turns that format 1 wrote. */
  readonly asks: boolean;
  readonly held: boolean;
  readonly due: number | null;
}

const WORK = 1;
const ASKS = 2;
const HELD = 4;

/** The record after a turn, as two columns of it: one to compare with the turn before, one only shown. */
export interface TurnColumns {
  readonly standing: string;
  readonly summary: string;
}

export function turnColumns(after: Run): TurnColumns {
  const { status, due, state, updatedAt, visits, reason, open, used, held } = progressOf(after);
  const wants = (wantsWork(after) ? WORK : 0) + (wantsSomebody(after) ? ASKS : 0) + (held ? HELD : 0);
  const standing = `${status} ${wants}${due === null ? "" : ` ${due}`}`;
  const spent = used && USED.map((name) => used[name]);
  return { standing, summary: JSON.stringify([state, visits, reason, updatedAt, open, spent]) };
}

export function standingOf(column: string): Standing {
  const [status, wants, due] = column.split(" ");
  const bits = Number(wants);
  return {
    status: status as Status,
    work: (bits & WORK) === 0 ? 0 : 1,
    asks: (bits & ASKS) !== 0,
    held: (bits & HELD) !== 0,
    due: due === undefined ? null : Number(due),
  };
}

type Summary = readonly [
  state: string | null,
  visits: number,
  reason: string | null,
  updatedAt: number,
  open: readonly number[],
  /** In the order of `USED`; turns that were stored before it was noted have none. */
  used?: readonly number[] | null,
];

const USED = ["modelCalls", "toolCalls", "inputTokens", "outputTokens", "costUsd"] as const;

function usedIn(spent: readonly number[]): NonNullable<RunRecord["used"]> {
  const [modelCalls = 0, toolCalls = 0, inputTokens = 0, outputTokens = 0, costUsd = 0] = spent;
  return { modelCalls, toolCalls, inputTokens, outputTokens, costUsd };
}

export interface RecordRow extends RunColumns, TurnColumns {
  readonly sum: string;
  readonly turn: number;
}

/** Checks what the run was created with; the rest is a turn's and checked by its hash. */
export function recordOfRow(row: RecordRow): RunRecord {
  const name = fromColumn(row.name);
  if (runSum(row) !== row.sum) throw corrupt(`run ${name}`, "what it was created with does not fit its sum");
  const { status, held, due } = standingOf(row.standing);
  const [state, visits, reason, updatedAt, open, used] = JSON.parse(row.summary) as Summary;
  return {
    run: name,
    turn: row.turn,
    status,
    held,
    state,
    digest: fromColumn(row.digest),
    packId: fromColumn(row.pack_id),
    packVersion: fromColumn(row.pack_version),
    key: row.key === null ? null : fromColumn(row.key),
    setup: JSON.parse(row.setup) as JsonObject,
    parent: row.parent === null ? null : fromColumn(row.parent),
    startedAt: row.started_at,
    updatedAt,
    visits,
    used: used ? usedIn(used) : null,
    reason,
    open,
    due,
  };
}

/** What the run was created with, read back. */
export const creationOf = ({ digest, packId, packVersion, key, setup }: RunRecord): RunCreation => ({
  digest,
  packId,
  packVersion,
  setup,
  ...(key !== null && { key }),
});

/** How the journal and its newest snapshot compare, in bytes as they are stored. */
export interface Sizes {
  /** The whole journal. */
  readonly bytes: number;
  /** Of these, what the newest snapshot stands for; 0 without one. */
  readonly covers: number;
  readonly snapshot: number;
}

const SNAPSHOT_BYTES_MIN = 64 * 1024;

/**
 * Bytes of turns since the newest snapshot, once they weigh more than it and more than the least; otherwise
 * 0.
 */
export function overdue({ bytes, covers, snapshot }: Sizes): number {
  assert(bytes >= covers, "a snapshot covers no more than there is");
  return bytes - covers > Math.max(SNAPSHOT_BYTES_MIN, snapshot) ? bytes - covers : 0;
}
