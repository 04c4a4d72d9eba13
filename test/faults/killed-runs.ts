// Starts a run, kills the process that drives it, starts it again under the same key until it ends by itself,
// and compares what is left with a run nobody disturbed.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { canonical, type Json } from "../../src/base/json.ts";
import { fold } from "../../src/core/apply.ts";
import type { TurnRow } from "../../src/core/facts.ts";
import type { Run } from "../../src/core/run.ts";
import { summaryOf } from "../../src/core/summary.ts";
import { traceOf } from "../../src/core/trace.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { folderWith } from "../cli/run-cli.ts";
import { factsOf, type Live, live } from "../cli/run-folder.ts";

export interface Case {
  readonly pack: string;
  readonly script: string;
  readonly variables: Readonly<Record<string, string>>;
}

export const example = (name: string, script: string, variables: Readonly<Record<string, string>>): Case => {
  const path = (file: string) => fileURLToPath(new URL(`../../examples/${name}/${file}`, import.meta.url));
  return { pack: path(`${name}.pack.yaml`), script: path(script), variables };
};

/** What must not depend on how often the process died. */
export interface Result {
  readonly code: number | null;
  readonly turns: number;
  readonly text: string;
}

/** How the next process is disturbed; `env` before it starts, `strike` while it runs. */
export interface Blow {
  readonly env?: Readonly<Record<string, string>>;
  readonly strike?: (process: Live) => Promise<void>;
}

export const atCommit = (commit: number, side: "before" | "after"): Blow => ({
  env: { PACKLOOP_CRASH_AT: `commit:${commit}:${side}` },
});

/**
 * Drives the case, giving each process the next blow, until one ends by itself or there is none left. Checks
 * what must hold after any crash and returns what must be equal, with the number of processes that died.
 */
export async function driveKilled(
  of: Case,
  blows: Iterator<Blow>,
): Promise<{ readonly result: Result; readonly kills: number }> {
  using folder = folderWith({});
  const path = join(folder.path, "runs.db");
  const args = runArgs(of, path);
  const seen: SeenTurn[] = [];
  let kills = 0;
  for (;;) {
    const { done, value: blow } = blows.next();
    const process = live(args, folder.path, blow?.env);
    if (done !== true) await blow.strike?.(process);
    const { code, signal, text } = await process.ended;
    seen.push(...turnsIn(text));
    if (signal === "SIGKILL" && done !== true) {
      kills++;
      continue;
    }
    expect(signal, text).toBeNull();
    return { result: await examine(path, code, seen), kills };
  }
}

/** The same command starts the run, finds it again and goes on with it. */
export function runArgs({ pack, script, variables }: Case, store: string): readonly string[] {
  const vars = Object.entries(variables).flatMap(([name, value]) => ["--var", `${name}=${value}`]);
  return ["run", pack, "--script", script, "--store", store, "--idempotency-key", "k", "--json", ...vars];
}

export interface SeenTurn {
  readonly turn: number;
  readonly facts: Json;
}

/** The turns a process told of before it died; a line may be cut. */
export function turnsIn(text: string): readonly SeenTurn[] {
  const lines = text.split("\n").slice(0, -1);
  return lines
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as SeenTurn)
    .filter(({ facts }) => facts !== undefined);
}

/** What is left in the store, after checks of what must hold however the run was disturbed. */
export async function examine(path: string, code: number | null, seen: readonly SeenTurn[]): Promise<Result> {
  await using store = await openSqliteStore(path, { readOnly: true });
  const records = await store.list({ limit: 10 });
  expect(records, "one key, one run").toHaveLength(1);
  const id = records[0]?.run ?? "";
  expect(await store.verify(id)).toEqual([]);
  const rows = await store.rows(id, { from: 1, to: 100_000, limit: 100_000 });
  expect(rows.map((row) => row.turn)).toEqual(rows.map((_, index) => index + 1));
  for (const { turn, facts } of seen) {
    const kept = rows[turn - 1]?.facts as unknown as Json;
    expect(canonical(kept ?? null), `turn ${turn} was told of and is kept`).toBe(canonical(facts));
  }
  everyStepOnce(rows);
  const run = fold(rows);
  return { code, turns: rows.length, text: timeless(rows, run) };
}

/** G2, G5: steps are 1, 2, 3…, each asked once and answered at most once, and nothing open is left behind. */
function everyStepOnce(rows: readonly TurnRow[]): void {
  const asked: number[] = [];
  const answered: number[] = [];
  for (const fact of factsOf(rows)) {
    if (fact.type === "asked") asked.push(fact.step);
    if (fact.type === "answered") answered.push(fact.step);
  }
  expect(asked).toEqual(asked.map((_, index) => index + 1));
  expect(new Set(answered).size, "each step is answered once").toBe(answered.length);
}

/** Trace, summary and calls without names of runs and without times. */
function timeless(rows: readonly TurnRow[], run: Run): string {
  const {
    run: _run,
    started_at: _started,
    updated_at: _updated,
    used,
    ...summary
  } = summaryOf("", { id: "", version: "", digest: run.digest }, run);
  const trace = [...traceOf(rows)].map(({ at: _at, used: spent, ...row }) => ({
    ...row,
    used: { ...spent, wall_ms: 0 },
  }));
  const calls = factsOf(rows).flatMap((fact) =>
    fact.type === "asked" && fact.ask.kind !== "timer" ? [{ step: fact.step, ask: fact.ask }] : [],
  );
  return JSON.stringify({ trace, summary: { ...summary, used: { ...used, wall_ms: 0 } }, calls }, null, 1);
}

export async function undisturbed(of: Case): Promise<Result> {
  return (await driveKilled(of, [][Symbol.iterator]())).result;
}

/** Runs the jobs a few at a time: processes mostly wait for the disk. */
export async function together<T>(jobs: readonly (() => Promise<T>)[], width: number): Promise<readonly T[]> {
  const results: T[] = [];
  const waiting = [...jobs.entries()];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, job] = next;
      results[index] = await job();
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
