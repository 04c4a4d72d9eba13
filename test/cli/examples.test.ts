// Every example runs as its README and the first line of its script say.

import { describe, expect, test } from "vitest";
import { exampleRuns, varFlags } from "./example-runs.ts";
import { pathOf, runFolder } from "./run-folder.ts";

const codes: Readonly<Record<string, number>> = {
  completed: 0,
  failed: 1,
  waiting: 10,
  budget_exhausted: 11,
  cancelled: 12,
};

describe("examples", () => {
  const runs = exampleRuns();

  test("there are ten loops, each with a second ending", () => {
    expect(new Set(runs.map(({ pack }) => pack)).size).toBe(10);
    expect(runs.length).toBeGreaterThanOrEqual(20);
    expect(runs.filter(({ variables }) => Object.keys(variables).length === 0)).toEqual([]);
  });

  test.each(runs)("$name ends $status", ({ pack, script, variables, status, path }) => {
    using folder = runFolder();
    const ran = folder.summary(["run", pack, "--script", script, ...varFlags(variables)]);
    expect(ran.stderr).toBe("");
    expect(ran.summary.status).toBe(status);
    expect(ran.code).toBe(codes[status]);
    const rows = folder.trace();
    expect(pathOf(rows)).toBe(path);
    expect(rows[0]).toMatchObject({ from: null, event: null, visit: 1, cause: "entry" });
    for (const [index, row] of rows.entries()) {
      if (index === 0) continue;
      expect(row.from).toBe(rows[index - 1]?.to);
      expect(row.visit).toBe(rows.slice(0, index + 1).filter(({ to }) => to === row.to).length);
      expect(row.cause === "redirect").toBe(row.redirected_from.length > 0);
      expect(row.cause === "outside").toBe(row.by !== null);
      expect(row.used.visits).toBe(index + 1);
      expect(Object.keys(row.artifacts)).toEqual(expect.arrayContaining([...row.changed]));
    }
    if (status === "completed") {
      expect(ran.summary.output?.text).not.toBe("");
      expect(ran.summary.output?.artifacts).toEqual(rows.at(-1)?.artifacts);
    }
  });

  test("a run that waits for a person goes on as its README says", () => {
    const waits = runs.find(({ name }) => name === "remediate/script-waits.yaml");
    if (waits === undefined) throw new Error("there is such a script");
    using folder = runFolder();
    folder.cli(["run", waits.pack, "--script", waits.script, ...varFlags(waits.variables)]);
    const ended = folder.summary(["send", "@", "Approved", "--by", "alice", "--follow"]);
    expect(ended).toMatchObject({ code: 0, summary: { status: "completed" } });
    expect(folder.trace().find(({ event }) => event === "Approved")).toMatchObject({ by: "alice" });
  });
});
