// The codegen template, scripted: real files, real tests, one real commit per visit of `implement`, also when the
// process is killed on the way.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { canonical, type Json } from "../../src/base/json.ts";
import type { TurnRow } from "../../src/core/facts.ts";
import type { TraceRow } from "../../src/core/trace.ts";
import { pathOf, type RunFolder } from "./run-folder.ts";
import { templateFolder } from "./template-folder.ts";

const RUN = ["run", "--script", "script.yaml"];

function git({ path }: RunFolder, ...args: readonly string[]): string {
  const ran = spawnSync("git", ["-C", join(path, "project"), ...args], { encoding: "utf8" });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return ran.stdout.trim();
}

/** Commits after the one of the template, oldest first. */
const commitsOf = (folder: RunFolder): readonly string[] =>
  git(folder, "log", "--reverse", "--format=%H").split("\n").slice(1);

/** The trace without times, with commits by their number in the repository. */
function timeless(folder: RunFolder): Json {
  const commits = commitsOf(folder);
  return folder.trace().map(({ at: _at, used, artifacts, ...row }: TraceRow) => ({
    ...row,
    used: { ...used, wall_ms: 0 },
    artifacts: { ...artifacts, commit_sha: commits.indexOf(String(artifacts["commit_sha"])) },
  }));
}

const reportsOf = (rows: readonly TraceRow[]) =>
  rows.flatMap((row) => (row.from === "test" ? [row.artifacts["test_report"] as Record<string, Json>] : []));

describe("a scripted run of codegen", () => {
  test("edits files, runs the real tests, and mends the fault in the second visit", () => {
    using folder = templateFolder("codegen");
    expect(folder.cli(RUN).code).toBe(0);
    const rows = folder.trace();
    expect(pathOf(rows)).toBe("plan → implement → test → implement → test → review → done");
    const [first, second] = reportsOf(rows);
    expect(first).toMatchObject({ passed: 4, failed: 1, failures: [{ name: "parts of a unit" }] });
    expect(second).toMatchObject({ passed: 5, failed: 0, failures: [] });
    const suite = spawnSync(process.execPath, ["--test"], { cwd: join(folder.path, "project") });
    expect(suite.status).toBe(0);
    expect(git(folder, "status", "--porcelain")).toBe("");
  });

  test("leaves one commit per visit of implement, and each is in the artifact", () => {
    using folder = templateFolder("codegen");
    const { summary } = folder.summary(RUN);
    const commits = commitsOf(folder);
    expect(commits).toHaveLength(2);
    const after = folder.trace().flatMap((row) => (row.from === "implement" ? [row] : []));
    expect(after.map((row) => row.artifacts["commit_sha"])).toEqual(commits);
    for (const commit of commits) {
      expect(
        git(folder, "show", "--no-patch", "--format=%(trailers:key=Packloop-Run,valueonly)", commit),
      ).toBe(summary.run);
      expect(git(folder, "show", "--name-only", "--format=", commit)).toBe("src/duration.js");
    }
  });

  test("can be played again over what it left", () => {
    using folder = templateFolder("codegen");
    folder.cli(RUN);
    expect(folder.cli(RUN).code).toBe(0);
    expect(reportsOf(folder.trace()).map(({ passed }) => passed)).toEqual([4, 5]);
    expect(commitsOf(folder)).toHaveLength(4);
  });

  test("sees a test that fails whatever the script says", () => {
    using folder = templateFolder("codegen");
    const file = join(folder.path, "project", "test", "duration.test.js");
    writeFileSync(file, readFileSync(file, "utf8").replace("7205", "7206"));
    folder.cli(RUN);
    expect(reportsOf(folder.trace()).at(-1)).toMatchObject({ passed: 4, failed: 1 });
  });
});

describe("killed on the way and resumed", () => {
  test("the trace is the same, with one commit per visit", { timeout: 180_000 }, async () => {
    using whole = templateFolder("codegen");
    const { summary } = whole.summary(RUN);
    const expected = canonical(timeless(whole));
    const blows = blowsFor(await whole.journal(summary.run));
    expect(blows.length).toBeGreaterThanOrEqual(7);
    for (const blow of blows) {
      using folder = templateFolder("codegen");
      const killed = folder.cli(RUN, { env: { PACKLOOP_CRASH_AT: blow } });
      expect(killed.code, `${blow} kills`).toBeNull();
      const resumed = folder.summary(["resume", "@"]);
      expect(resumed, blow).toMatchObject({ code: 0, summary: { status: "completed" } });
      expect(canonical(timeless(folder)), blow).toBe(expected);
      expect(commitsOf(folder), blow).toHaveLength(2);
    }
  });
});

/** Just before the answer of a tool that acts is kept, so that it has acted; and once in the middle of all. */
function blowsFor(rows: readonly TurnRow[]): readonly string[] {
  const acting = new Set<number>();
  const blows: string[] = [];
  for (const { turn, facts } of rows) {
    for (const fact of facts) {
      if (
        fact.type === "asked" &&
        fact.ask.kind === "tool" &&
        /^(write_file|commit|run_tests)$/.test(fact.ask.tool)
      )
        acting.add(fact.step);
      if (fact.type === "answered" && acting.has(fact.step)) blows.push(`commit:${turn}:before`);
    }
  }
  return [...blows, `commit:${Math.floor(rows.length / 2)}:after`];
}
