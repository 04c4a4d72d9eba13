// Reads. Every row is checked before it is used: turns by their chain, others by their sums. A damaged
// snapshot is passed over, since the journal can be folded without it.

import type { Json, JsonObject } from "../../base/json.ts";
import type { TurnRow } from "../../core/facts.ts";
import type { Run } from "../../core/run.ts";
import type { AskingRun, RunFilter, RunRecord, StoredRun } from "../../engine/ports.ts";
import { corrupt, decoded } from "../journal/damage.ts";
import { type RecordRow, recordOfRow } from "../journal/run-record.ts";
import { FOLD_VERSION, putTogether } from "../journal/snapshot.ts";
import { unsqueeze } from "../journal/squeeze.ts";
import { NO_HASH, sumOf, turnHash } from "../journal/turn-hash.ts";
import type { Query } from "./connections.ts";
import type { Head } from "./head-memory.ts";
import { factsOf, fromText, toText } from "./turn-columns.ts";

/** A run with its newest turn and its head. */
export interface RunRow extends RecordRow {
  readonly run: string;
  readonly at: number;
  readonly v: number;
  readonly bytes: number;
  readonly content: string;
  readonly hash: string;
  readonly before: string;
  readonly head_turn: number;
  readonly head_hash: string;
}

export interface ReadRun extends StoredRun {
  readonly head: Head;
}

interface TurnCells {
  readonly turn: number;
  readonly at: number;
  readonly v: number;
  readonly bytes: number;
  readonly standing: string;
  readonly summary: string;
  readonly facts: string;
  readonly hash: string;
}

interface SnapshotCells {
  readonly turn: number;
  readonly bytes: number;
  readonly covers: number;
  readonly data: Uint8Array;
  readonly sum: string;
  readonly hash: string;
}

const ROW = `SELECT r.id::text AS run, r.name, r.key, r.digest, r.pack_id, r.pack_version, r.setup, r.parent,
    r.started_at, r.sum, t.turn, t.at, t.v, t.bytes::float8 AS bytes, t.standing, t.summary,
    t.facts AS content, encode(t.hash, 'hex') AS hash, coalesce(encode(p.hash, 'hex'), '${NO_HASH}') AS before,
    h.turn AS head_turn, encode(h.hash, 'hex') AS head_hash
  FROM head h JOIN run r ON r.id = h.run LEFT JOIN turn t ON t.run = h.run AND t.turn = h.turn
    LEFT JOIN turn p ON p.run = h.run AND p.turn = h.turn - 1`;

export async function runRow(query: Query, name: string): Promise<RunRow | undefined> {
  const { rows } = await query.query<RunRow>({
    name: "row",
    text: `${ROW} WHERE r.name = $1`,
    values: [toText(name)],
  });
  return rows[0];
}

/** The record, after its newest turn was checked. */
export function checkedRecord(row: RunRow): RunRecord {
  const name = fromText(row.name);
  return decoded(`run ${name}`, () => {
    if (row.turn === null) throw corrupt(`turn ${row.head_turn} of run ${name}`, "it is missing");
    if (turnHash(row.before, row) !== row.hash || row.hash !== row.head_hash)
      throw corrupt(`turn ${row.turn} of run ${name}`, "its hash does not fit");
    return recordOfRow(row);
  });
}

/** The run after turn `upTo`, from the nearest snapshot on. */
export async function loadRun(query: Query, name: string, upTo: number): Promise<ReadRun | undefined> {
  const row = await runRow(query, name);
  if (row === undefined) return undefined;
  const record = checkedRecord(row);
  const last = Math.max(0, Math.min(upTo, row.turn));
  const snapshot = await newestSnapshot(query, row.run, last);
  const rows = await turnsOf(query, row, { from: (snapshot?.turn ?? 0) + 1, last });
  const { run, turn, hash, bytes } = row;
  const covers = { covers: snapshot?.covers ?? 0, snapshot: snapshot?.bytes ?? 0 };
  return { snapshot: snapshot?.run, rows, record, head: { run, turn, hash, bytes, ...covers } };
}

/** Turns `from` to `last`, all of them there, each held against the hash before it. */
export async function turnsOf(
  query: Query,
  { run, name }: Pick<RunRow, "run" | "name">,
  { from, last }: { readonly from: number; readonly last: number },
): Promise<readonly TurnRow[]> {
  if (last < from) return [];
  const { rows: found } = await query.query<TurnCells>({
    name: "turns",
    text: `SELECT turn, at, v, bytes::float8 AS bytes, standing, summary, facts, encode(hash, 'hex') AS hash
      FROM turn WHERE run = $1 AND turn BETWEEN $2 AND $3 ORDER BY turn`,
    values: [run, from - 1, last],
  });
  const rows: TurnRow[] = [];
  const isFirst = from === 1;
  let before = isFirst ? NO_HASH : found[0]?.turn === from - 1 ? found[0].hash : undefined;
  const present = () => `turn ${from + rows.length} of run ${fromText(name)}`;
  decoded(present, () => {
    for (const cells of isFirst ? found : found.slice(1)) {
      const turn = from + rows.length;
      if (before === undefined || cells.turn !== turn) throw new Error("it is missing");
      if (turnHash(before, { ...cells, content: cells.facts }) !== cells.hash)
        throw new Error("its hash does not fit");
      rows.push({ turn, at: cells.at, v: cells.v, facts: factsOf(cells.facts) });
      before = cells.hash;
    }
    if (rows.length <= last - from) throw new Error("it is missing");
  });
  return rows;
}

export interface ReadSnapshot {
  readonly turn: number;
  readonly bytes: number;
  readonly covers: number;
  readonly run: Run;
}

async function newestSnapshot(query: Query, run: string, last: number): Promise<ReadSnapshot | undefined> {
  const { rows } = await query.query<SnapshotCells>({
    name: "snapshot",
    text: `${SNAPSHOT} WHERE s.run = $1 AND s.turn <= $2 AND s.fold = $3 ORDER BY s.turn DESC LIMIT 1`,
    values: [run, last, FOLD_VERSION],
  });
  try {
    return rows[0] && readSnapshot(rows[0]);
  } catch {
    // `verify` reports it. Here the journal says the same, only slower.
    return undefined;
  }
}

export const SNAPSHOT = `SELECT s.turn, s.bytes::float8 AS bytes, s.covers::float8 AS covers, s.data, s.sum,
    encode(t.hash, 'hex') AS hash
  FROM snapshot s JOIN turn t ON t.run = s.run AND t.turn = s.turn`;

/** Throws when it is damaged. */
export function readSnapshot({ turn, bytes, covers, data, sum, hash }: SnapshotCells): ReadSnapshot {
  if (sumOf([FOLD_VERSION, covers, hash], data) !== sum)
    throw corrupt(`snapshot of turn ${turn}`, "it does not fit its sum");
  const { run, logs } = JSON.parse(unsqueeze(data)) as { run: string; logs: readonly (readonly Json[])[] };
  return { turn, bytes, covers, run: putTogether(run, logs) };
}

/** Newest first. */
export async function listRuns(query: Query, filter: RunFilter): Promise<readonly RunRecord[]> {
  const { status, packId, parent, before, limit } = filter;
  const tests: string[] = [];
  const values: unknown[] = [];
  const add = (test: (place: string) => string, value: unknown) => {
    values.push(value);
    tests.push(test(`$${values.length}`));
  };
  if (before !== undefined)
    add((place) => `h.run < (SELECT id FROM run WHERE name = ${place})`, toText(before));
  if (status !== undefined) add((place) => `h.status = ANY(${place}::text[])`, [...status]);
  if (packId !== undefined) add((place) => `r.pack_id = ${place}`, toText(packId));
  if (parent !== undefined) add((place) => `r.parent = ${place}`, toText(parent));
  values.push(limit);
  const where = tests.length === 0 ? "" : `WHERE ${tests.join(" AND ")}`;
  const { rows } = await query.query<RunRow>(
    `${ROW} ${where} ORDER BY h.run DESC LIMIT $${values.length}`,
    values,
  );
  return rows.map(checkedRecord);
}

/** In the order in which they began to ask. */
export async function askingRuns(
  query: Query,
  { after = "-1 -1", limit }: { readonly after?: string; readonly limit: number },
): Promise<readonly AskingRun[]> {
  const [since = Number.NaN, number = Number.NaN] = after.split(" ").map(Number);
  if (Number.isNaN(since) || Number.isNaN(number)) return [];
  const { rows } = await query.query<{ name: string; run: string; since: number }>(
    `SELECT r.name, h.run, h.since FROM head h JOIN run r ON r.id = h.run
      WHERE h.since IS NOT NULL AND (h.since, h.run) > ($1::float8, $2::bigint)
      ORDER BY h.since, h.run LIMIT $3`,
    [since, number, limit],
  );
  return rows.map((row) => ({ run: fromText(row.name), place: `${row.since} ${row.run}` }));
}

export async function runNames(
  query: Query,
  { prefix, limit }: { readonly prefix: string; readonly limit: number },
): Promise<readonly string[]> {
  // Names that no column can say stand behind a mark, whatever they begin with.
  const { rows } = await query.query<{ name: string }>(
    `SELECT name FROM run WHERE $1 = '' OR starts_with(name, $1) OR starts_with(name, chr(1)) ORDER BY id DESC`,
    [toText(prefix)],
  );
  const names = rows.map(({ name }) => decoded("a run's name", () => fromText(name)));
  return names.filter((name) => name.startsWith(prefix)).slice(0, limit);
}

export async function storedProgram(
  query: Query,
  digest: string,
): Promise<{ readonly program: JsonObject; readonly source: string } | undefined> {
  const { rows } = await query.query<{ program: string; source: string; sum: string }>({
    name: "program",
    text: "SELECT program, source, sum FROM program WHERE digest = $1",
    values: [toText(digest)],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  return decoded(`program ${digest}`, () => {
    if (sumOf([digest, row.program, row.source]) !== row.sum) throw new Error("it does not fit its sum");
    return { program: JSON.parse(row.program) as JsonObject, source: fromText(row.source) };
  });
}
