// F4 and F5: a system call on a file of the store fails, once or from then on, for want of room or with an
// error of the disk. Nothing is told after it that is not stored, the error is one line, and once the disk is
// well again the same command ends the run as if nothing had happened.

import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderWith } from "../cli/run-cli.ts";
import { live } from "../cli/run-folder.ts";
import {
  atOrBefore,
  type MadeCall,
  nameOf,
  noStrace,
  OUT,
  type Point,
  pointsOf,
  traced,
} from "./injection.ts";
import { examine, example, type Result, runArgs, turnsIn, undisturbed } from "./killed-runs.ts";
import { isSkipped, sample, sweep, type Trial } from "./sweep.ts";

const FILE = "disk-errors";
const MINUTES = 60_000;
const codegen = example("codegen", "script.yaml", { requirements: "slugify titles" });

/** Points of each kind of failure; a whole sweep has about 200. */
const POINTS_MAX = 10;

/**
 * Calls whose failure does no harm and is not told. After the run has ended, the log still holds everything
 * that the checkpoint could not move, and files that should have gone are used or removed by the next process.
 */
const ALWAYS_HARMLESS = ["fsync ."];
const HARMLESS_AT_THE_END = [
  "fsync runs.db-wal",
  "pwrite64 runs.db",
  "fsync runs.db",
  "ftruncate runs.db",
  "unlink runs.db-wal",
  "unlink runs.db-shm",
  "unlink runs.db-owner",
  "unlink runs.db-lock-journal",
];

const failures = [
  ["no room, once", { with: "ENOSPC" }],
  ["no room from then on", { with: "ENOSPC", on: true }],
  ["an error of the disk, once", { with: "EIO" }],
  ["errors of the disk from then on", { with: "EIO", on: true }],
] as const;

describe.skipIf(isSkipped(FILE, noStrace()))("a call on the store fails", () => {
  test.each(failures)("%s", { timeout: 120 * MINUTES }, async (what, failure) => {
    const whole = await undisturbed(codegen);
    const points = await pointsIn();
    const rare = points.filter(({ call }) => call !== "pwrite64" && call !== "fsync");
    const often = points.filter(({ call }) => call === "pwrite64" || call === "fsync");
    const chosen = [...rare, ...sample(often, POINTS_MAX)];
    await sweep(
      FILE,
      what,
      chosen.map((point) => trial(whole, { ...point, ...failure })),
    );
  });
});

async function pointsIn(): Promise<readonly Point[]> {
  using folder = folderWith({});
  const store = join(folder.path, "runs.db");
  const { calls } = await traced(runArgs(codegen, store), { store, stdout: true });
  // What cannot be told to the outside is another matter than what cannot be stored.
  const told = calls.filter(({ file }) => file === OUT).length;
  expect(told).toBeGreaterThan(10);
  return pointsOf(calls, "EIO").filter(({ call, nth }) => call !== "write" || nth <= ownWrites(calls));
}

/** Only the name of the owner is written by `write`, and before any turn. */
function ownWrites(calls: readonly MadeCall[]): number {
  const writes = calls.filter(({ call }) => call === "write");
  return writes.findIndex(({ file }) => file === OUT);
}

function trial(whole: Result, point: Point): Trial {
  const reaches = async (point: Point) => {
    using folder = folderWith({});
    const store = join(folder.path, "runs.db");
    const hurt = await traced(runArgs(codegen, store), { store, point, stdout: true });
    const calls = hurt.calls.map((one) => (one.file === basename(folder.path) ? { ...one, file: "." } : one));
    if (!calls.some(({ injected }) => injected)) return false;
    const harm = harmIn(calls, turnsIn(hurt.stdout).length === whole.turns);
    if (harm.length === 0) expect(hurt).toMatchObject({ code: whole.code, stderr: "" });
    else {
      expect(hurt.code, harm.join()).toBe(3);
      expect(hurt.stderr).toMatch(/^error: the store `[^`\n]*runs\.db` cannot be used: [^\n]+\n$/);
      expect(hurt.stderr).toContain(store);
    }
    const { code, text } = await live(runArgs(codegen, store), folder.path).ended;
    const verified = await live(["verify", "--all", "--store", store], folder.path).ended;
    expect(verified, verified.text).toMatchObject({ code: 0 });
    expect(await examine(store, code, [...turnsIn(hurt.stdout), ...turnsIn(text)])).toEqual(whole);
    return true;
  };
  return { name: nameOf(point), check: () => atOrBefore(point, reaches) };
}

/** The failed calls that must be told. After the first of them nothing else may be said to be done. */
function harmIn(calls: readonly MadeCall[], isOver: boolean): readonly string[] {
  const told = calls.findLastIndex(({ file }) => file === OUT);
  const harm = calls.flatMap(({ injected, call, file }, index) => {
    const name = `${call} ${file}`;
    const allowed =
      ALWAYS_HARMLESS.includes(name) || (isOver && index > told && HARMLESS_AT_THE_END.includes(name));
    return injected && !allowed ? [{ name, index }] : [];
  });
  if (harm[0] !== undefined) expect(told, "the last turn told").toBeLessThan(harm[0].index);
  return harm.map(({ name }) => name);
}
