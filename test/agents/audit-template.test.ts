// The security audit of RFC 0009 as `packloop init audit` makes it: an outer loop over findings, an agent with a loop
// of its own for each. The model is scripted; scanner, files and search are real.

import { expect, test } from "vitest";
import type { RunFolder } from "../cli/run-folder.ts";
import { templateFolder } from "../cli/template-folder.ts";

interface Verdict {
  readonly id: string;
  readonly real: boolean;
}

const statusesOf = (folder: RunFolder) =>
  (JSON.parse(folder.cli(["ls", "--json"]).stdout) as readonly Record<string, unknown>[]).map(
    ({ run, parent, status, visits }) => ({ run, parent, status, visits }),
  );

test("twenty findings are investigated, each in a run of its own with its own guards and budget", () => {
  using folder = templateFolder("audit");
  const { summary, code } = folder.summary(["run", "--script", "script.yaml"]);
  expect(code).toBe(0);
  expect(summary.visits).toEqual({ triage: 21, investigate: 20, report: 1 });
  const verdicts = summary.output?.artifacts["verdicts"] as unknown as readonly Verdict[];
  const findings = summary.output?.artifacts["findings"] as unknown as readonly Verdict[];
  expect(verdicts.map(({ id }) => id)).toEqual(findings.map(({ id }) => id));
  expect(verdicts.filter(({ real }) => real)).toHaveLength(10);
  expect(summary.children).toHaveLength(20);
  expect(new Set(summary.children.map(({ agent, state }) => `${agent} in ${state}`))).toEqual(
    new Set(["investigator in investigate"]),
  );
  const [root, ...children] = statusesOf(folder);
  expect(root).toMatchObject({ run: summary.run, parent: null, status: "completed", visits: 42 });
  expect(children.map(({ run }) => run)).toEqual(summary.children.map(({ run }) => run));
  // Three findings needed a second look: the inner loop went round in those runs, and only there.
  expect(children.map(({ visits }) => visits).filter((visits) => visits === 3)).toHaveLength(3);
  const again = JSON.parse(folder.cli(["show", `${summary.run}/15`, "--json"]).stdout) as object;
  expect(again).toMatchObject({
    parent: { run: summary.run, step: 15 },
    visits: { inspect: 2, judge: 1 },
    limits: { max_total_visits: 60, max_tool_calls: 60 },
    output: { artifacts: { verdict: { id: "F04", real: true } } },
  });
  expect(folder.trace().filter(({ children: called }) => called.length === 1)).toHaveLength(20);
});

test("one finding alone is what its agent does with it", () => {
  using folder = templateFolder("audit");
  const asked = ["--agent", "investigator", "--input", "F13 stored-secret loans.js:21"];
  const { summary, code } = folder.summary(["run", "--script", "script.yaml", ...asked]);
  expect(code).toBe(0);
  expect(summary).toMatchObject({
    visits: { inspect: 2, judge: 1 },
    output: { artifacts: { verdict: { id: "F13", real: true } } },
  });
});

test("a finding that the script has no answer for fails in its own run, and the audit goes on", () => {
  using folder = templateFolder("audit");
  const asked = ["--agent", "investigator", "--input", "something else"];
  const { summary } = folder.summary(["run", "--script", "script.yaml", ...asked]);
  expect(summary).toMatchObject({ status: "failed", reason: { code: "script_missing", state: "judge" } });
});
