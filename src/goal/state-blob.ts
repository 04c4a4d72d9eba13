// The blob of the plugin: every run, and what is left of those that ended. It is read whole and written
// whole, and never outgrows what hosts allow: ended runs go first, then notes of running ones, then a run.

import { isoTime } from "../base/iso-time.ts";
import { get, isObject, type Json, type JsonObject, put } from "../base/json.ts";
import { type RecordDefaults, type RunRecord, readRecord } from "./run-record.ts";
import { KIB, stateBytes } from "./state-size.ts";

const SCHEMA = 1;

export interface Blob {
  readonly runs: Map<string, RunRecord>;
  readonly ended: Map<string, Ended>;
  lastRunId: string | null;
  lastPollAt: string | null;
  /** Keys of the blob that are not ours; they count in its size and are left alone. */
  readonly others: JsonObject;
}

export interface Ended {
  readonly status: string;
  readonly at: string;
}

const OURS = new Set(["schema", "last_run_id", "last_poll_at", "runs", "ended"]);

/** A number: the blob was written by a newer version, with that schema. */
export function readBlob(state: JsonObject, defaults: RecordDefaults): Blob | number {
  const schema = get(state, "schema");
  if (typeof schema === "number" && schema > SCHEMA) return schema;
  const runs = new Map<string, RunRecord>();
  for (const [id, run] of entriesOf(get(state, "runs")))
    if (isObject(run)) runs.set(id, readRecord(run, defaults));
  const ended = new Map<string, Ended>();
  for (const [id, one] of entriesOf(get(state, "ended")))
    ended.set(id, { status: textOf(get(one, "status")) ?? "done", at: textOf(get(one, "at")) ?? "" });
  return {
    runs,
    ended,
    lastRunId: textOf(get(state, "last_run_id")) ?? null,
    lastPollAt: textOf(get(state, "last_poll_at")) ?? null,
    others: objectOf(Object.entries(state).filter(([key]) => !OURS.has(key))),
  };
}

const entriesOf = (value: Json | undefined): readonly [string, Json][] =>
  isObject(value) ? Object.entries(value) : [];
const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** The merge of hosts is shallow, so every key that may have changed is sent whole. */
export function blobUpdates(blob: Blob): JsonObject {
  return {
    schema: SCHEMA,
    ...(blob.lastRunId !== null && { last_run_id: blob.lastRunId }),
    ...(blob.lastPollAt !== null && { last_poll_at: blob.lastPollAt }),
    runs: objectOf(blob.runs as unknown as Iterable<[string, Json]>),
    ended: objectOf(blob.ended as unknown as Iterable<[string, Json]>),
  };
}

function objectOf(entries: Iterable<readonly [string, Json]>): JsonObject {
  const object: Record<string, Json> = {};
  for (const [key, value] of entries) put(object, key, value);
  return object;
}

export const blobBytes = (blob: Blob): number => stateBytes({ ...blob.others, ...blobUpdates(blob) });

export const activeRuns = (blob: Blob): number =>
  [...blob.runs.values()].filter(({ status }) => status === "running").length;

/** Hosts refuse a blob over 1 MiB; these are where we begin to give way. */
const PRUNE_AT = 512 * KIB;
export const TRIM_AT = 768 * KIB;
export const ESCALATE_AT = 960 * KIB;

const ENDED_MAX = 500;

/** `{"status":"escalated","at":"2026-02-17T09:00:00.000Z"}` */
const ENTRY_BYTES = 56;

/** Ended runs that nobody will ask for again become entries of `ended`, the oldest first. The size it leaves. */
export function prune(
  blob: Blob,
  { now, keep, ttlMs }: { now: number; keep: number; ttlMs: number },
): number {
  const old = isoTime(now - ttlMs);
  const oldest = endedRuns(blob);
  for (const [index, [id, run]] of oldest.entries())
    if (oldest.length - index > keep && run.updated_at < old) retire(blob, id, run);
  let bytes = blobBytes(blob);
  for (const [id, run] of endedRuns(blob)) {
    if (bytes < PRUNE_AT) break;
    bytes -= stateBytes(run as unknown as Json);
    retire(blob, id, run);
    // The entry that takes the run's place; the name and the marks around it stay.
    bytes += ENTRY_BYTES;
  }
  dropOldest(blob);
  return blobBytes(blob);
}

const endedRuns = (blob: Blob): [string, RunRecord][] =>
  [...blob.runs]
    .filter(([, { status }]) => status !== "running")
    .sort(([, a], [, b]) => (a.updated_at < b.updated_at ? -1 : a.updated_at > b.updated_at ? 1 : 0));

function retire(blob: Blob, id: string, run: RunRecord): void {
  blob.runs.delete(id);
  blob.ended.delete(id);
  blob.ended.set(id, { status: run.status, at: run.updated_at });
}

/** A host may have changed the order of the keys, so the times tell which are oldest. */
function dropOldest(blob: Blob): void {
  const spare = blob.ended.size - ENDED_MAX;
  if (spare <= 0) return;
  const byTime = [...blob.ended].sort(([, a], [, b]) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  for (const [id] of byTime.slice(0, spare)) blob.ended.delete(id);
}

/** Notes of running runs shrink to half. */
export function trimNotes(blob: Blob): void {
  for (const [id, run] of blob.runs) {
    if (run.status !== "running") continue;
    const memory = run.memory.slice(run.memory.length - Math.floor(run.memory.length / 2));
    const evidence = run.evidence.slice(Math.ceil(run.evidence.length / 2));
    blob.runs.set(id, { ...run, memory, evidence });
  }
}

export function largestRunning(blob: Blob): string | undefined {
  let largest: { id: string; bytes: number } | undefined;
  for (const [id, run] of blob.runs) {
    if (run.status !== "running") continue;
    const bytes = stateBytes(run as unknown as Json);
    if (largest === undefined || bytes > largest.bytes) largest = { id, bytes };
  }
  return largest?.id;
}
