// `packloop diff`: two runs or two turns, aligned by state and visit.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Folder, folderOfRuns, lastLine } from "./sample-runs.ts";

interface Diff {
  readonly same: boolean;
  readonly first_divergence: {
    readonly state: string;
    readonly visit: number;
    readonly field: string;
  } | null;
  readonly changes: readonly {
    readonly state: string;
    readonly visit: number;
    readonly field: string;
    readonly a: unknown;
    readonly b: unknown;
  }[];
  readonly artifacts: Readonly<Record<string, unknown>>;
}

let folder: Folder;
let run: string;
beforeAll(() => {
  folder = folderOfRuns();
  run = folder.completed();
});
afterAll(() => folder[Symbol.dispose]());

const diff = (...args: string[]): Diff => folder.json<Diff>(0, "diff", "--json", ...args);
const forked = (...args: string[]): string => lastLine(folder.run("fork", "--json", "--follow", ...args)).run;

describe("diff", () => {
  test("a run is the same as itself and as another that went the same way", () => {
    expect(diff(run, run)).toMatchObject({ same: true, first_divergence: null, changes: [] });
    expect(diff(run, folder.completed()).same).toBe(true);
    expect(folder.run("diff", run, run, "--exit-code").code).toBe(0);
  });

  test("a fork that took another event differs in the visit that sent it", () => {
    const other = forked(`${run}@3`, "--event", "Ready");
    const found = diff(run, other);
    expect(found.same).toBe(false);
    expect(found.first_divergence).toEqual({ state: "work", visit: 1, field: "event" });
    expect(found.changes[0]).toEqual({ state: "work", visit: 1, field: "event", a: "Again", b: "Ready" });
    expect(found.changes).toContainEqual({ state: "work", visit: 2, field: "visit", a: 4, b: null });
    expect(found.artifacts).toEqual({
      report: { a: { size: 2 }, b: null },
      log: { a: "first\nsecond", b: null },
    });
    expect(folder.run("diff", run, other, "--exit-code").code).toBe(1);
    expect(folder.run("diff", run, other).stdout).toContain("first in work#1: event");
  });

  test("an artifact that was set is named where it was set, and not again in every visit after it", () => {
    const other = forked(`${run}@4`, "--set", "artifact.log=mine");
    const found = diff(run, other);
    expect(found.first_divergence).toEqual({ state: "work", visit: 2, field: "artifacts.log" });
    expect(found.changes.filter(({ field }) => field === "artifacts.log")).toHaveLength(1);
    expect(found.artifacts).toEqual({ log: { a: "first\nsecond", b: "mine\nsecond" } });
  });

  test("two forks of one run, and a run that shares nothing by descent, give the same answer", () => {
    const one = forked(`${run}@3`, "--event", "Ready");
    const two = forked(`${run}@4`, "--set", "artifact.log=mine");
    const alone = folder.completed();
    expect(diff(one, two).first_divergence).toEqual({ state: "work", visit: 1, field: "event" });
    expect(diff(alone, two).first_divergence).toEqual(diff(run, two).first_divergence);
  });

  test("two turns of one run differ in what happened between them", () => {
    const found = diff(`${run}@3`, `${run}@4`);
    expect(found.first_divergence).toEqual({ state: "work", visit: 1, field: "event" });
    expect(found.artifacts).toEqual({ report: { a: null, b: { size: 1 } }, log: { a: null, b: "first" } });
  });

  test.each([
    [["RUN", "r_none"], 5, "run `r_none` does not exist"],
    [["RUN", "RUN@99"], 5, "has no turn 99"],
    [["RUN", "a@b"], 2, "is not a run"],
    [["RUN"], 2, "missing required argument"],
  ])("%j is refused with one line", (args, code, message) => {
    const ran = folder.run("diff", ...args.map((arg) => arg.replace("RUN", run)));
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(message);
  });
});
