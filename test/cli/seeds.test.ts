// The loops of RFC 0009, run to every ending they can have: completed, redirected at a guard, each budget,
// waiting, approved, rejected.

import { describe, expect, test } from "vitest";
import { pathOf, runFolder, seed } from "./run-folder.ts";
import { completed, exhausted, play, rowsOf } from "./seed-runs.ts";

describe("RFC 0009, example 1: code generation", () => {
  const run = (...more: string[]) =>
    [
      "run",
      seed("codegen-agent.yaml"),
      "--script",
      "s.yaml",
      "--var",
      "requirements=slugs",
      ...more,
    ] as const;
  const ends = "  review: [{ event: Approved }]\n  done: [{ text: Made. }]\n";
  const failing = `states:
  plan: [{ text: Two steps., event: PlanReady }]
  implement: [{ event: CodeReady }]
  test: [{ event: TestsFailed }]
`;

  test("completes once the tests pass", () => {
    using folder = runFolder({
      "s.yaml": `states:
  plan: [{ text: Two steps., event: PlanReady }]
  implement:
    - calls: [{ tool: write_file, args: { path: a.py, content: x } }]
    - { artifacts: { commit_sha: c1, change_summary: First. }, event: CodeReady }
    - { artifacts: { commit_sha: c2, change_summary: Mended. }, event: CodeReady }
  test:
    - calls: [{ tool: run_tests, args: { test_path: . } }]
    - { artifacts: { test_report: { passed: 1, failed: 1 } }, event: TestsFailed }
    - { artifacts: { test_report: '{"passed":2,"failed":0}' }, event: TestsPassed }
${ends}tools:
  write_file: [{ ok: written }]
  run_tests: [{ ok: { passed: 1, failed: 1 } }]
`,
    });
    expect(play(folder, run())).toEqual({ ...completed, text: "Made." });
    const first = { commit_sha: "c1", change_summary: "First." };
    const failed = { ...first, test_report: { passed: 1, failed: 1 } };
    const second = { commit_sha: "c2", change_summary: "Mended.", test_report: { passed: 1, failed: 1 } };
    const passed = { ...second, test_report: { passed: 2, failed: 0 } };
    expect(rowsOf(folder)).toEqual([
      [null, null, "plan", 1, "entry", [], {}],
      ["plan", "PlanReady", "implement", 1, "event", [], {}],
      ["implement", "CodeReady", "test", 1, "event", [], first],
      ["test", "TestsFailed", "implement", 2, "event", [], failed],
      ["implement", "CodeReady", "test", 2, "event", [], second],
      ["test", "TestsPassed", "review", 1, "event", [], passed],
      ["review", "Approved", "done", 1, "event", [], passed],
    ]);
  });

  test("goes to the review when implement was entered ten times", () => {
    using folder = runFolder({ "s.yaml": `${failing}${ends}` });
    expect(play(folder, run())).toMatchObject(completed);
    const rows = rowsOf(folder);
    expect(rows).toHaveLength(23);
    expect(rows.slice(-4)).toEqual([
      ["test", "TestsFailed", "implement", 10, "event", [], {}],
      ["implement", "CodeReady", "test", 10, "event", [], {}],
      ["test", "TestsFailed", "review", 1, "redirect", ["implement"], {}],
      ["review", "Approved", "done", 1, "event", [], {}],
    ]);
  });

  test("max_total_visits ends a review that is never content", () => {
    using folder = runFolder({ "s.yaml": `${failing}  review: [{ event: ChangesNeeded }]\n` });
    expect(play(folder, run())).toMatchObject(exhausted("max_total_visits", 30, "review"));
    const rows = rowsOf(folder);
    expect(rows).toHaveLength(30);
    expect(rows.at(-1)).toEqual(["review", "ChangesNeeded", "review", 9, "redirect", ["implement"], {}]);
  });

  test("max_tool_calls ends it before a call that does not fit", () => {
    const greedy = failing.replace(
      "implement: [{ event: CodeReady }]",
      "implement: [{ calls: [{ tool: read_file, args: { path: a } }, { tool: read_file, args: { path: b } }] }]",
    );
    using folder = runFolder({ "s.yaml": greedy });
    const { code, summary } = folder.summary(run("--budget-calls", "3"));
    expect({ code, status: summary.status, reason: summary.reason }).toEqual(
      exhausted("max_tool_calls", 3, "implement"),
    );
    expect(summary.used.tool_calls).toBe(2);
  });

  test("max_wall_time_sec ends it in the middle of a call", () => {
    const slow = failing.replace("test: [{ ", "test: [{ delay_ms: 60000, ");
    using folder = runFolder({ "s.yaml": slow });
    expect(play(folder, run("--budget-seconds", "0.5"))).toMatchObject(
      exhausted("max_wall_time_sec", 0.5, "test"),
    );
    expect(pathOf(folder.trace())).toBe("plan → implement → test");
  });

  test("no event, and a nudge that does not help: it waits for one of them", () => {
    using folder = runFolder({ "s.yaml": "states:\n  plan: [{ text: Hm. }]\n" });
    const { code, summary } = folder.summary(run());
    expect(code).toBe(10);
    expect(summary.waiting_for).toMatchObject([{ kind: "event", events: ["PlanReady"] }]);
    expect(summary.used.model_calls).toBe(2);
  });
});

describe("RFC 0009, example 2: exploring data", () => {
  const run = (...more: string[]) =>
    [
      "run",
      seed("data-explorer.yaml"),
      "--script",
      "s.yaml",
      "--var",
      "dataset_description=orders",
      ...more,
    ] as const;
  const loop = `states:
  hypothesize: [{ artifacts: { current_hypothesis: prices }, event: HypothesisFormed }]
  query: [{ artifacts: { query_result_ref: { id: q1 } }, event: QueryComplete }]
  analyze: [{ artifacts: { findings: { seen: 1 } }, event: NeedsMoreData }]
  report: [{ text: Nothing new. }]
`;

  test("findings grow as a list until the analysis is complete", () => {
    using folder = runFolder({
      "s.yaml": `states:
  hypothesize:
    - { artifacts: { current_hypothesis: prices }, event: HypothesisFormed }
    - { artifacts: { current_hypothesis: season }, event: HypothesisFormed }
  query:
    - { event: QueryFailed }
    - { artifacts: { query_result_ref: { id: q1 }, queries_run: q1 }, event: QueryComplete }
  analyze: [{ artifacts: { findings: [{ a: 1 }, { b: 2 }] }, event: AnalysisComplete }]
  report: [{ text: It is the season. }]
`.replace("queries_run: q1", "queries_run: { id: q1 }"),
    });
    expect(play(folder, run())).toEqual({ ...completed, text: "It is the season." });
    const before = { current_hypothesis: "season" };
    const asked = { ...before, query_result_ref: { id: "q1" }, queries_run: [{ id: "q1" }] };
    expect(rowsOf(folder)).toEqual([
      [null, null, "hypothesize", 1, "entry", [], {}],
      ["hypothesize", "HypothesisFormed", "query", 1, "event", [], { current_hypothesis: "prices" }],
      ["query", "QueryFailed", "hypothesize", 2, "event", [], { current_hypothesis: "prices" }],
      ["hypothesize", "HypothesisFormed", "query", 2, "event", [], before],
      ["query", "QueryComplete", "analyze", 1, "event", [], asked],
      ["analyze", "AnalysisComplete", "report", 1, "event", [], { ...asked, findings: [{ a: 1 }, { b: 2 }] }],
    ]);
  });

  test("the ninth hypothesis becomes the report", () => {
    using folder = runFolder({ "s.yaml": loop });
    expect(play(folder, run())).toEqual({ ...completed, text: "Nothing new." });
    const rows = rowsOf(folder);
    expect(rows).toHaveLength(25);
    expect(rows.at(-1)).toEqual([
      "analyze",
      "NeedsMoreData",
      "report",
      1,
      "redirect",
      ["hypothesize"],
      {
        current_hypothesis: "prices",
        query_result_ref: { id: "q1" },
        findings: Array.from({ length: 8 }, () => ({ seen: 1 })),
      },
    ]);
  });

  test.each([
    [["--budget-visits", "5"], exhausted("max_total_visits", 5, "query")],
    [["--budget-model-calls", "4"], exhausted("max_model_calls", 4, "query")],
  ])("%j ends it", (flags, expected) => {
    using folder = runFolder({ "s.yaml": loop.replace("NeedsMoreData", "HypothesisRefuted") });
    expect(play(folder, run(...flags))).toMatchObject({ code: 11, reason: { limit: expected.reason.limit } });
    expect(folder.trace()).toHaveLength(5);
  });
});

describe("RFC 0009, example 3 and the guide: a worker that corrects itself", () => {
  const run = (...more: string[]) =>
    ["run", seed("self-correcting.json"), "--script", "s.yaml", ...more] as const;
  const wrong =
    "states:\n  work: [{ artifacts: { error_summary: no file }, event: Error }]\n  give_up: [{ text: It cannot be done. }]\n";

  test("succeeds at the second try", () => {
    using folder = runFolder({
      "s.yaml":
        "states:\n  work: [{ artifacts: { error_summary: no file }, event: Error }, { event: Success }]\n  complete: [{ text: Done. }]\n",
    });
    expect(play(folder, run())).toEqual({ ...completed, text: "Done." });
    expect(rowsOf(folder)).toEqual([
      [null, null, "work", 1, "entry", [], {}],
      ["work", "Error", "work", 2, "event", [], { error_summary: "no file" }],
      ["work", "Success", "complete", 1, "event", [], { error_summary: "no file" }],
    ]);
  });

  test("gives up at the fourth", () => {
    using folder = runFolder({ "s.yaml": wrong });
    expect(play(folder, run())).toEqual({ ...completed, text: "It cannot be done." });
    const after = { error_summary: "no file" };
    expect(rowsOf(folder)).toEqual([
      [null, null, "work", 1, "entry", [], {}],
      ["work", "Error", "work", 2, "event", [], after],
      ["work", "Error", "work", 3, "event", [], after],
      ["work", "Error", "give_up", 1, "redirect", ["work"], after],
    ]);
  });

  test("a pack without a budget takes one from the command line", () => {
    using folder = runFolder({ "s.yaml": wrong });
    expect(play(folder, run("--budget-visits", "2"))).toMatchObject(exhausted("max_total_visits", 2, "work"));
    expect(folder.trace()).toHaveLength(2);
  });
});

describe("RFC 0009, example 4: remediation with a person", () => {
  const run = (...more: string[]) =>
    [
      "run",
      seed("ops-remediation.yaml"),
      "--script",
      "s.yaml",
      "--var",
      "alert_description=5xx",
      ...more,
    ] as const;
  const states = (verify: string) => `states:
  diagnose: [{ artifacts: { diagnosis: disk, diagnosis_log: { looked: logs } }, event: DiagnosisReady }]
  propose: [{ artifacts: { proposed_fix: { clean: /tmp } }, event: FixProposed }]
  execute: [{ event: FixApplied }]
  verify: [{ event: ${verify} }]
  postmortem: [{ text: The disk was full. }]
`;
  const found = { diagnosis: "disk", diagnosis_log: [{ looked: "logs" }] };
  const proposed = { ...found, proposed_fix: { clean: "/tmp" } };

  test("waits for the person, goes on when approved", () => {
    using folder = runFolder({ "s.yaml": states("Healthy") });
    const waits = folder.summary(run());
    expect(waits.code).toBe(10);
    expect(waits.summary).toMatchObject({
      status: "waiting",
      state: "await_approval",
      waiting_for: [{ kind: "event", events: ["Approved", "Rejected"] }],
      used: { model_calls: 2 },
    });
    expect(play(folder, ["send", "@", "Approved", "--by", "alice", "--follow"])).toEqual({
      ...completed,
      text: "The disk was full.",
    });
    expect(rowsOf(folder)).toEqual([
      [null, null, "diagnose", 1, "entry", [], {}],
      ["diagnose", "DiagnosisReady", "propose", 1, "event", [], found],
      ["propose", "FixProposed", "await_approval", 1, "event", [], proposed],
      ["await_approval", "Approved", "execute", 1, "outside", [], proposed],
      ["execute", "FixApplied", "verify", 1, "event", [], proposed],
      ["verify", "Healthy", "postmortem", 1, "event", [], proposed],
    ]);
  });

  test("rejected, it diagnoses again and asks again", () => {
    using folder = runFolder({ "s.yaml": states("Healthy") });
    folder.cli(run());
    const again = folder.summary([
      "send",
      "@",
      "Rejected",
      "--by",
      "bob",
      "--context",
      "too risky",
      "--follow",
    ]);
    expect(again).toMatchObject({ code: 10, summary: { visits: { diagnose: 2, await_approval: 2 } } });
    expect(folder.trace()[3]).toMatchObject({
      event: "Rejected",
      to: "diagnose",
      cause: "outside",
      by: "bob",
    });
  });

  test("always rejected, guard and budget end it", () => {
    using folder = runFolder({
      "s.yaml": `${states("Healthy")}events:\n  await_approval: [{ event: Rejected, by: bob }]\n`,
    });
    expect(play(folder, run())).toMatchObject(exhausted("max_total_visits", 20, "propose"));
    const twice = { ...proposed, diagnosis_log: Array.from({ length: 5 }, () => ({ looked: "logs" })) };
    expect(rowsOf(folder)[15]).toEqual([
      "await_approval",
      "Rejected",
      "propose",
      6,
      "redirect",
      ["diagnose"],
      twice,
    ]);
  });

  test("never healed, the fourth check becomes the postmortem", () => {
    using folder = runFolder({
      "s.yaml": `${states("StillBroken")}events:\n  await_approval: [{ event: Approved, by: alice }]\n`,
    });
    expect(play(folder, run())).toMatchObject(completed);
    const rows = rowsOf(folder);
    expect(rows).toHaveLength(20);
    expect(rows.at(-1)?.slice(0, 6)).toEqual([
      "execute",
      "FixApplied",
      "postmortem",
      1,
      "redirect",
      ["verify"],
    ]);
  });
});
