// A run and the runs of its agents as one page holds them: every turn in a form that can be shown, what was
// taken out, and hashes by which somebody with the store can tell whether it is that run.

import { createHash } from "node:crypto";
import { isObject, type Json, type JsonObject, put } from "../base/json.ts";
import type { Fact, TurnRow } from "../core/facts.ts";
import { childrenOf } from "../core/summary.ts";
import type { RunRecord, Store } from "../engine/ports.ts";
import {
  EXPORT_KIND,
  type ExportedPack,
  type ExportedRun,
  type RedactedTurn,
  type RunExport,
} from "./exported-run.ts";
import { descendantsOf } from "./run-tree.ts";
import { runAt, storedProgram, turnsOf } from "./stored-runs.ts";

export interface ExportOptions {
  /** Takes secrets out. */
  readonly clean: <T>(value: T) => T;
  readonly at: string;
  /** The first turn with everything in it, and the last turn. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export async function runExport(store: Store, record: RunRecord, options: ExportOptions): Promise<RunExport> {
  const { from = 1, to = record.turn, clean } = options;
  const runs = [await exportedRun(store, record, { clean, from, to })];
  for (const agent of await agentsOf(store, record, { from, to }))
    runs.push(await exportedRun(store, agent, { clean, from: 1, to: agent.turn }));
  const digests = new Set(runs.flatMap(({ rows }) => rows.flatMap(({ facts }) => facts.flatMap(digestIn))));
  const packs = await Promise.all([...digests].map((digest) => packOf(store, digest)));
  return { kind: EXPORT_KIND, exported_at: options.at, packs: clean(packs), runs };
}

const digestIn = (fact: Fact): readonly string[] =>
  fact.type === "started" || fact.type === "forked" ? [fact.digest] : [];

interface Stretch {
  readonly from: number;
  readonly to: number;
}

async function exportedRun(
  store: Store,
  { run, turn, packId, packVersion, digest }: RunRecord,
  { clean, from, to }: Stretch & Pick<ExportOptions, "clean">,
): Promise<ExportedRun> {
  const rows: TurnRow[] = [];
  const redacted: RedactedTurn[] = [];
  const hash = createHash("sha256");
  for await (const row of turnsOf(store, run, { from: 1, to })) {
    hash.update(journalLine(row));
    const facts = clean(row.facts);
    if (facts !== row.facts) redacted.push({ turn: row.turn, marks: marksIn(row.facts, facts) });
    const shown = { ...row, facts };
    rows.push(row.turn < from ? cutTurn(shown) : shown);
  }
  const pack = { id: packId, version: packVersion, digest };
  return { run, pack, turns: turn, rows, journal_sha256: hash.digest("hex"), redacted, from };
}

/** One turn in what a journal's hash is made of. */
export const journalLine = (row: TurnRow): string => `${JSON.stringify(row)}\n`;

const MARK = /\[redacted:? [^\]]{1,200}\]/g;

/** Marks that were not there before. */
function marksIn(before: readonly Fact[], after: readonly Fact[]): RedactedTurn["marks"] {
  const [old, now] = [JSON.stringify(before), JSON.stringify(after)].map((text) =>
    counted(text.match(MARK) ?? []),
  );
  const marks: Record<string, number> = {};
  for (const [mark, count] of now ?? []) {
    const added = count - (old?.get(mark) ?? 0);
    if (added > 0) put(marks, mark, added);
  }
  return marks;
}

function counted(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** As a page has a turn that lies before the stretch it shows. */
export const cutTurn = (row: TurnRow): TurnRow => ({ ...row, facts: row.facts.map(shortened) });

/** What models and tools said is opaque to the fold, so long texts in it can be cut. Artifacts stay whole. */
function shortened(fact: Fact): Fact {
  if (fact.type === "answered" || fact.type === "asked")
    return cutTexts(fact as unknown as Json) as unknown as Fact;
  return fact.type === "noted" && fact.what === "result" ? { ...fact, result: cutTexts(fact.result) } : fact;
}

const TEXT_MAX = 120;

function cutTexts(value: Json): Json {
  if (typeof value === "string")
    return value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX - 40)}… [cut]` : value;
  if (Array.isArray(value)) return value.map((item: Json) => cutTexts(item));
  if (!isObject(value)) return value;
  const copy: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) put(copy, key, cutTexts(item));
  return copy;
}

/** Those that were called in the stretch, with all that they called. */
async function agentsOf(
  store: Store,
  record: RunRecord,
  { from, to }: Stretch,
): Promise<readonly RunRecord[]> {
  const all = await descendantsOf(store, record.run);
  if (from === 1 && to === record.turn) return all;
  const before = from === 1 ? undefined : await runAt(store, record.run, from - 1);
  const early = new Set(before === undefined ? [] : childrenOf(record.run, before).map(({ run }) => run));
  const called = childrenOf(record.run, await runAt(store, record.run, to)).filter(
    ({ run }) => !early.has(run),
  );
  return all.filter(({ run }) =>
    called.some((child) => run === child.run || run.startsWith(`${child.run}/`)),
  );
}

async function packOf(store: Store, digest: string): Promise<ExportedPack> {
  const program = await storedProgram(store, digest);
  const source = (await store.program(digest))?.source ?? "";
  return {
    digest,
    id: program.id,
    version: program.version,
    program: program as unknown as JsonObject,
    source,
  };
}
