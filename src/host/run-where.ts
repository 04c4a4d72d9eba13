// Which runs of a list are wanted: the one filter of `packloop ls`, of the API's list and of the debugger.

import { durationMs } from "../base/duration.ts";
import { type Fields, parseWhere, timeOf, type Where } from "../base/where.ts";
import type { Status } from "../core/facts.ts";
import type { RunRecord } from "../engine/ports.ts";

export const STATUSES: readonly Status[] = [
  "running",
  "waiting",
  "completed",
  "budget_exhausted",
  "failed",
  "cancelled",
];

interface Column {
  readonly kind: "text" | "number" | "time" | "span";
  readonly words?: readonly string[];
  readonly of: (record: RunRecord, now: number) => string | number | null;
}

const text = (of: (record: RunRecord) => string | null): Column => ({ kind: "text", of });
const number = (of: (record: RunRecord) => number | null): Column => ({ kind: "number", of });

const COLUMNS: ReadonlyMap<string, Column> = new Map(
  Object.entries({
    run: text(({ run }) => run),
    status: { kind: "text", words: STATUSES, of: ({ status }) => status },
    held: { kind: "text", words: ["yes", "no"], of: ({ held }) => (held ? "yes" : "no") },
    state: text(({ state }) => state),
    reason: text(({ reason }) => reason),
    pack: text(({ packId }) => packId),
    version: text(({ packVersion }) => packVersion),
    digest: text(({ digest }) => digest),
    parent: text(({ parent }) => parent),
    key: text(({ key }) => key),
    turns: number(({ turn }) => turn),
    visits: number(({ visits }) => visits),
    calls: number(({ used }) => used && used.modelCalls + used.toolCalls),
    model_calls: number(({ used }) => used && used.modelCalls),
    tool_calls: number(({ used }) => used && used.toolCalls),
    tokens: number(({ used }) => used && used.inputTokens + used.outputTokens),
    input_tokens: number(({ used }) => used && used.inputTokens),
    output_tokens: number(({ used }) => used && used.outputTokens),
    cost: number(({ used }) => used && used.costUsd),
    started: { kind: "time", of: ({ startedAt }) => startedAt },
    updated: { kind: "time", of: ({ updatedAt }) => updatedAt },
    age: { kind: "span", of: ({ startedAt }, now) => Math.max(0, now - startedAt) },
    idle: { kind: "span", of: ({ updatedAt }, now) => Math.max(0, now - updatedAt) },
  } satisfies Record<string, Column>),
);

export const whereFields: Fields = COLUMNS;

export const runWhere = (expression: string): Where => parseWhere(expression, whereFields);

export interface RunWish {
  /** Found in the run, its pack, state, reason or key. */
  readonly text?: string | undefined;
  readonly reason?: string | undefined;
  /** Of the last change. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly where?: Extract<Where, { ok: true }> | undefined;
  readonly now: number;
}

/** Whether a run is one of those that are wished for. */
export function fitsWish(
  record: RunRecord,
  { text: words, reason, since, until, where, now }: RunWish,
): boolean {
  if (reason !== undefined && reason !== "" && record.reason !== reason) return false;
  if (since !== undefined && record.updatedAt < since) return false;
  if (until !== undefined && record.updatedAt >= until) return false;
  if (!hasText(record, words)) return false;
  return where === undefined || where.fits((name) => COLUMNS.get(name)?.of(record, now) ?? null);
}

function hasText(record: RunRecord, words: string | undefined): boolean {
  if (words === undefined || words === "") return true;
  const wanted = words.toLowerCase();
  const { run, packId, packVersion, digest, state, reason, key } = record;
  return [run, packId, packVersion, digest, state, reason, key].some((one) =>
    (one ?? "").toLowerCase().includes(wanted),
  );
}

/** A moment, or a length of time that ends now. */
export function timeIn(given: string, now: number): number | undefined {
  const span = durationMs(given);
  return span === undefined ? timeOf(given) : now - span;
}
