// F6: files that end too early. A log that was cut leaves a store that opens and holds a beginning of the run,
// which the same command ends; an exported run that was cut is refused whole.

import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { canonical, type Json } from "../../src/base/json.ts";
import type { TurnRow } from "../../src/core/facts.ts";
import { readRunFile } from "../../src/host/run-file.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { folderWith, packloop } from "../cli/run-cli.ts";
import { live } from "../cli/run-folder.ts";
import { examine, example, runArgs, turnsIn, undisturbed } from "./killed-runs.ts";
import { sample, sweep, type Trial } from "./sweep.ts";

const FILE = "torn-files";
const MINUTES = 60_000;
/** As much of the end as could have been on its way to the disk. */
const TAIL = 64 * 1024;
const codegen = example("codegen", "script.yaml", { requirements: "slugify titles" });
const sumOf = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

/** The lengths to which a file is cut, from its whole length back. */
const lengthsOf = (size: number): readonly number[] =>
  Array.from({ length: Math.min(TAIL, size) + 1 }, (_, back) => size - back);

/** A folder with `runs.db` and its log as a killed process left them. */
function killedRun() {
  const folder = folderWith({});
  const store = join(folder.path, "runs.db");
  const begun = packloop(runArgs(codegen, store), { env: { PACKLOOP_CRASH_AT: "commit:14:after" } });
  expect(statSync(`${store}-wal`).size).toBeGreaterThan(TAIL);
  return { folder, store, told: turnsIn(begun.stdout) };
}

/** A copy of the store with its log cut, in a folder of its own. */
function cutTo(store: string, length: number) {
  const folder = folderWith({});
  const copy = join(folder.path, "runs.db");
  copyFileSync(store, copy);
  copyFileSync(`${store}-wal`, `${copy}-wal`);
  truncateSync(`${copy}-wal`, length);
  return { copy, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

describe("a log that ends too early", () => {
  test("opens wherever it is cut, with a beginning of the run", { timeout: 120 * MINUTES }, async () => {
    const { folder, store, told } = killedRun();
    using _ = folder;
    const before = sumOf(`${store}-wal`);
    const { size } = statSync(`${store}-wal`);
    using uncut = cutTo(store, size);
    const whole = await rowsIn(uncut.copy);
    expect(whole).toHaveLength(14);
    expect(told.length, "turns told").toBe(13);
    const trial = (length: number): Trial => ({
      name: `${length}`,
      check: async () => {
        using cut = cutTo(store, length);
        const rows = await rowsIn(cut.copy);
        expect(rows).toEqual(whole.slice(0, rows.length));
      },
    });
    const lengths = lengthsOf(size);
    await sweep(FILE, "cut logs opened", sample(lengths, 400).map(trial));
    expect(sumOf(`${store}-wal`)).toBe(before);
  });

  test("is gone on with, and the run is as if nothing had happened", { timeout: 60 * MINUTES }, async () => {
    const expected = await undisturbed(codegen);
    const { folder, store } = killedRun();
    using _ = folder;
    const trial = (length: number): Trial => ({
      name: `run ${length}`,
      check: async () => {
        using cut = cutTo(store, length);
        const { code, text } = await live(runArgs(codegen, cut.copy), folder.path).ended;
        expect(await examine(cut.copy, code, turnsIn(text))).toEqual(expected);
      },
    });
    const size = statSync(`${store}-wal`).size;
    const lengths = Array.from({ length: 200 }, (_, index) => Math.round((size * index) / 199));
    await sweep(FILE, "cut logs gone on with", sample(lengths, 20).map(trial));
  });
});

async function rowsIn(path: string): Promise<readonly string[]> {
  await using store = await openSqliteStore(path);
  const [record] = await store.list({ limit: 2 });
  if (record === undefined) return [];
  expect(await store.verify(record.run)).toEqual([]);
  const rows: readonly TurnRow[] = await store.rows(record.run, { from: 1, to: 1_000, limit: 1_000 });
  return rows.map((row) => canonical(row as unknown as Json));
}

describe("an exported run that ends too early", () => {
  test("is refused wherever it is cut, and wherever a bit is wrong", { timeout: 60 * MINUTES }, async () => {
    using folder = folderWith({});
    const bytes = exported(folder.path);
    const read = readRunFile(bytes);
    expect(read.ok && read.tree.rows).toHaveLength(18);
    const trial = (length: number): Trial => ({
      name: `export ${length}`,
      check: async () => {
        expect(readRunFile(bytes.subarray(0, length)).ok).toBe(false);
        const flipped = Buffer.from(bytes);
        flipped[length] = (flipped[length] as number) ^ (1 << (length % 8));
        expect(readRunFile(flipped).ok).toBe(false);
      },
    });
    const lengths = lengthsOf(bytes.length).slice(1);
    await sweep(FILE, "cut exports", sample(lengths, 1_000).map(trial));
  });

  test("leaves no store behind", () => {
    using folder = folderWith({});
    const bytes = exported(folder.path);
    for (const length of [0, 1, bytes.length >> 1, bytes.length - 1]) {
      writeFileSync(join(folder.path, "cut.jsonl"), bytes.subarray(0, length));
      const ran = packloop(["import", "cut.jsonl", "--store", "new.db"], { cwd: folder.path });
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toMatch(/^error: `cut\.jsonl` is not a run that can be taken: [^\n]+\n$/);
      expect(existsSync(join(folder.path, "new.db"))).toBe(false);
    }
  });
});

function exported(folder: string): Buffer {
  const store = join(folder, "runs.db");
  expect(packloop(runArgs(codegen, store)).code).toBe(0);
  expect(packloop(["export", "@", "--store", store, "--out", "run.jsonl"], { cwd: folder }).code).toBe(0);
  return readFileSync(join(folder, "run.jsonl"));
}
