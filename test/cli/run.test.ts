// `packloop run` and `resume` as processes: exit codes, what is printed, what a run is started with.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { factsOf, pathOf, runFolder, seed } from "./run-folder.ts";
import { files, pack, start, states } from "./work-pack.ts";

describe("exit codes and the summary", () => {
  test.each([
    ["completed", 0, "{ event: Done }"],
    ["waiting", 10, "{ event: Ask }"],
    ["failed", 1, "{ fail: { status: 400, message: no such model } }"],
    ["budget_exhausted", 11, "{ event: Again }"],
  ])("%s is %d", (status, code, work) => {
    using folder = runFolder({ ...files, "script.yaml": states(work) });
    const ran = folder.summary(start);
    expect(ran.code).toBe(code);
    expect(ran.summary.status).toBe(status);
    expect(folder.cli(["show", "@", "--json"]).stdout).toContain(`"status": "${status}"`);
  });

  test("a completed run's summary has every field", () => {
    using folder = runFolder(files);
    const { summary, stderr } = folder.summary(start);
    expect(stderr).toBe("");
    expect(summary).toEqual({
      run: expect.stringMatching(/^r_[0-9a-z]{16}$/),
      status: "completed",
      reason: null,
      held: null,
      state: "end",
      pack: { id: "s", version: "1.0.0", digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
      mode: "autonomous",
      output: { text: "Goodbye.", artifacts: { note: "seen" } },
      waiting_for: [],
      visits: { work: 1, end: 1 },
      used: {
        visits: 2,
        tool_calls: 1,
        model_calls: 3,
        input_tokens: 10,
        output_tokens: 5,
        cost_usd: 0.01,
        wall_ms: expect.any(Number),
      },
      used_by_agents: null,
      limits: { max_total_visits: 10, max_tool_calls: 5, max_wall_time_sec: 600 },
      turns: 5,
      forked_from: null,
      parent: null,
      children: [],
      started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(JSON.parse(folder.cli(["show", summary.run, "--json"]).stdout)).toEqual(summary);
  });

  test("reasons name the limit, its value and the state; a failure its message", () => {
    using folder = runFolder({ ...files, "again.yaml": states("{ event: Again }") });
    const over = folder.summary(["run", "pack.yaml", "--script", "again.yaml", "--var", "task=it"]);
    expect(over.summary.reason).toEqual({
      code: "max_total_visits",
      limit: "max_total_visits",
      value: 10,
      state: "work",
    });
    writeFileSync(join(folder.path, "fail.yaml"), states("{ fail: { status: 401, message: wrong key } }"));
    const failed = folder.summary(["run", "pack.yaml", "--script", "fail.yaml", "--var", "task=it"]);
    expect(failed.summary.reason).toEqual({ code: "http_401", message: "wrong key", state: "work" });
  });

  test("--json prints one object per turn, in order, and the summary last", async () => {
    using folder = runFolder(files);
    const { stdout, summary } = folder.summary(start);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { run: string; turn?: number; at?: string; facts?: unknown });
    const turns = lines.slice(0, -1);
    expect(turns.map((line) => line.turn)).toEqual([1, 2, 3, 4, 5]);
    expect(turns.every((line) => line.run === summary.run)).toBe(true);
    const journal = await folder.journal(summary.run);
    expect(turns.map((line) => line.facts)).toEqual(journal.map((row) => row.facts));
  });

  test("people get progress on stderr and the result on stdout", () => {
    using folder = runFolder(files);
    const { stdout, stderr, code } = folder.cli(start);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^r_\w+ completed\n\nGoodbye\.\n\n {2}packloop trace r_\w+/);
    expect(stderr).toMatch(/✓ work +1 +Done +1 call/);
    expect(stderr).toContain("visits 2/10");
  });
});

describe("what a run is started with", () => {
  test("the pack from standard input, variables from a file, and --var over them", async () => {
    using folder = runFolder({ ...files, "vars.yaml": "task: sweep\ntimes: 3\n" });
    const args = ["run", "-", "--script", "script.yaml", "--vars-file", "vars.yaml", "--var", "times=4"];
    const ran = folder.summary(args, { input: pack });
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    const [started] = factsOf(await folder.journal(ran.summary.run));
    expect(started).toMatchObject({ type: "started", variables: { task: "sweep", times: 4 } });
    const mistyped = folder.cli([...args, "--var", "taks=x"], { input: pack });
    expect(mistyped).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("uses the variable `taks` (did you mean `task`?)"),
    });
  });

  test("variables from standard input, and a value from a file", async () => {
    using folder = runFolder({ ...files, "task.txt": "a long task\n" });
    const args = [
      "run",
      "pack.yaml",
      "--script",
      "script.yaml",
      "--vars-file",
      "-",
      "--var",
      "task=@task.txt",
    ];
    const ran = folder.summary(args, { input: '{"times": 2}' });
    const [started] = factsOf(await folder.journal(ran.summary.run));
    expect(started).toMatchObject({ variables: { task: "a long task\n", times: 2 } });
  });

  test("a pack without a workflow runs its only prompt, with variables of its types", () => {
    const one = pack.slice(0, pack.indexOf("  q: {")).replace("    tools: [look]\n", "");
    using folder = runFolder({ "one.yaml": one, "s.yaml": "prompts:\n  p: [{ text: hello }]\n" });
    const ran = folder.summary([
      "run",
      "one.yaml",
      "--script",
      "s.yaml",
      "--var",
      "task=x",
      "--var",
      "times=2",
    ]);
    expect(ran.summary).toMatchObject({ status: "completed", state: null, output: { text: "hello" } });
    const wrong = folder.cli(["run", "one.yaml", "--script", "s.yaml", "--prompt", "nope"]);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toContain("`nope` is not a prompt (known: p)");
  });

  test.each([
    [["--var", "task"], "--var expects NAME=VALUE, got `task`"],
    [["--var", "=x"], "--var expects NAME=VALUE, got `=x`"],
    [["--var", "task=@none.txt"], "cannot open `none.txt`"],
    [[], "variable `task` is required and has no value"],
    [["--var", "task=x", "--var", "times=many"], "variable `times` must be a number, not `many`"],
    [["--var", "task=x", "--var", "times=10"], "times"],
    [["--vars-file", "list.yaml"], "`list.yaml` is not a mapping of variables"],
    [["--vars-file", "none.yaml"], "none.yaml"],
    [["--vars-file", "broken.yaml"], "broken.yaml:1:7: "],
    [
      ["--var", "task=x", "--budget-visits", "11"],
      "max_total_visits can only be tightened: the pack allows 10",
    ],
    [["--var", "task=x", "--budget-calls", "6"], "max_tool_calls can only be tightened: the pack allows 5"],
    [["--var", "task=x", "--budget-seconds", "601"], "max_wall_time_sec can only be tightened"],
    [["--var", "task=x", "--budget-visits", "1.5"], "`1.5` is not a whole number"],
    [["--var", "task=x", "--budget-visits", "0"], "`0` is not a positive number"],
    [["--var", "task=x", "--nonsense"], "unknown option '--nonsense'"],
  ])("refused with exit 2, and nothing is started: %j", (more, message) => {
    using folder = runFolder({ ...files, "list.yaml": "- 1\n", "broken.yaml": "task: [1\n" });
    const ran = folder.cli(["run", "pack.yaml", "--script", "script.yaml", ...more]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain(message);
    expect(ran.stderr).not.toContain("    at ");
    expect(["no runs\n", ""]).toContain(folder.cli(["ls"]).stdout);
  });

  test("every problem with the variables is told at once", () => {
    using folder = runFolder(files);
    const { stderr } = folder.cli(["run", "pack.yaml", "--script", "script.yaml", "--var", "times=x"]);
    expect(stderr).toContain("`task`");
    expect(stderr).toContain("`times`");
  });

  test("a pack with errors is shown with its position and not run", () => {
    using folder = runFolder({ ...files, "bad.yaml": pack.replace("Done: end", "Done: nowhere") });
    const ran = folder.cli(["run", "bad.yaml", "--script", "script.yaml", "--var", "task=x"]);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain("PP203");
    expect(ran.stderr).toMatch(/bad\.yaml:\d+:\d+/);
  });

  test.each([
    ["sates: {}\n", "s.yaml:1:1: `sates` is not known here (did you mean `states`?)"],
    ["states:\n  work: []\n", "s.yaml:2:3: expected a list with at least one entry (at /states/work)"],
    ["states:\n  work:\n    - { txet: x }\n", "s.yaml:3:9: `txet` is not known here (did you mean `text`?)"],
    ["states:\n  work: [{ calls: [{ name: x }] }]\n", "a call names its `tool` (at /states/work/0/calls/0)"],
    ["tools:\n  look: [{ fail: 429 }]\n", "`fail` is a mapping (at /tools/look/0/fail)"],
    ["- 1\n", "s.yaml:1:1: a script is a mapping"],
    ["states: [\n", "s.yaml:1:9: "],
  ])("a mistake in a script is shown with its position: %j", (text, message) => {
    using folder = runFolder({ ...files, "s.yaml": text });
    const ran = folder.cli(["run", "pack.yaml", "--script", "s.yaml", "--var", "task=x"]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain(message);
  });

  test("a section of a script without entries is no mistake", () => {
    using folder = runFolder({ ...files, "s.yaml": `${states("{ event: Done }")}tools:\nevents:\n` });
    expect(folder.summary(["run", "pack.yaml", "--script", "s.yaml", "--var", "task=x"]).code).toBe(0);
  });

  test("a state without an answer in the script fails the run and says so", () => {
    using folder = runFolder({ ...files, "s.yaml": "states:\n  work: [{ event: Done }]\n" });
    const ran = folder.summary(["run", "pack.yaml", "--script", "s.yaml", "--var", "task=x"]);
    expect(ran.code).toBe(1);
    expect(ran.summary.reason?.message).toBe("the script has no answer for state `end`");
  });

  test("an event of the script that is not allowed stops with one line instead of waiting for ever", () => {
    const wrong = `${states("{ event: Ask }")}events:\n  gate: [{ event: Yse, by: bob }]\n`;
    using folder = runFolder({ ...files, "s.yaml": wrong });
    const ran = folder.cli(["run", "pack.yaml", "--script", "s.yaml", "--var", "task=x"]);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain("error: the script's event `Yse` is not allowed in `gate`");
    expect(folder.cli(["show", "@", "--json"]).stdout).toContain('"status": "waiting"');
  });
});

describe("budgets from the command line", () => {
  test.each([
    [["--budget-visits", "2"], "{ event: Again }", "max_total_visits", 2],
    [["--budget-calls", "1"], "{ calls: [{ tool: look }] }", "max_tool_calls", 1],
    [["--budget-model-calls", "3"], "{ event: Again }", "max_model_calls", 3],
    [["--budget-cost", "0.05"], "{ event: Again, usage: { cost_usd: 0.02 } }", "max_cost_usd", 0.05],
    [["--budget-seconds", "0.3"], "{ event: Again, delay_ms: 60000 }", "max_wall_time_sec", 0.3],
  ])("%j ends the run", (flags, work, limit, value) => {
    using folder = runFolder({ ...files, "s.yaml": states(work) });
    const ran = folder.summary(["run", "pack.yaml", "--script", "s.yaml", "--var", "task=x", ...flags]);
    expect(ran.code).toBe(11);
    expect(ran.summary.reason).toMatchObject({ limit, value, state: "work" });
  });
});

describe("the same run again", () => {
  test("one key, one run: a finished one is only shown again", () => {
    using folder = runFolder(files);
    const first = folder.summary([...start, "--idempotency-key", "k1"]);
    const again = folder.summary([...start, "--idempotency-key", "k1"]);
    expect(again).toMatchObject({ code: 0, stdout: `${JSON.stringify(first.summary)}\n` });
    expect(folder.summary([...start, "--idempotency-key", "k2"]).summary.run).not.toBe(first.summary.run);
  });

  test("--detach only starts, as often as it is said; resume drives to the end without flags", () => {
    using folder = runFolder(files);
    const begun = folder.summary([...start, "--detach", "--idempotency-key", "k"]);
    expect(begun).toMatchObject({ code: 0, summary: { status: "running", turns: 1 } });
    const again = folder.summary([...start, "--detach", "--idempotency-key", "k"]);
    expect(again).toMatchObject({ code: 0, summary: { run: begun.summary.run, turns: 1 } });
    const ended = folder.summary(["resume", begun.summary.run]);
    expect(ended).toMatchObject({ code: 0, summary: { run: begun.summary.run, turns: 5 } });
  });

  test("--detach tells people how to go on, and programs how the run stands", () => {
    using folder = runFolder(files);
    const ran = folder.cli([...start, "--detach"]);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout).toMatch(/^(r_\w+) started\n\n {2}packloop resume \1 {6}go on with it\n$/);
    const told = folder.cli([...start, "--detach", "--json"]);
    expect(JSON.parse(told.stdout)).toMatchObject({ status: "running", turns: 1 });
  });

  test("a key of a run of another pack starts nothing", async () => {
    using folder = runFolder({ ...files, "other.yaml": pack.replace("Close.", "End.") });
    const first = folder.summary([...start, "--detach", "--idempotency-key", "k"]).summary;
    const other = ["run", "other.yaml", "--script", "script.yaml", "--var", "task=it", "--idempotency-key"];
    for (const more of [[], ["--detach"]]) {
      const ran = folder.cli([...other, "k", ...more]);
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toContain(
        `\`k\` belongs to run \`${first.run}\`, which was started with another pack`,
      );
    }
    expect(folder.cli([...other, ""]).stderr).toContain("the idempotency key is empty");
    expect(await folder.journal(first.run)).toHaveLength(1);
    expect(JSON.parse(folder.cli(["ls", "--json"]).stdout)).toHaveLength(1);
  });

  test("the pack may be left out in a folder that holds one, and a turn is no run to resume", () => {
    using folder = runFolder(files);
    expect(folder.summary(["run", "--script", "script.yaml", "--var", "task=it"]).code).toBe(0);
    for (const args of [
      ["resume", "@@2"],
      ["cancel", "@@2"],
    ]) {
      const ran = folder.cli(args);
      expect(ran.code).toBe(2);
      expect(ran.stderr).toContain("`@@2` names a turn");
    }
  });

  test("a run that is resumed shows the visit it was in the middle of, too", () => {
    using folder = runFolder(files);
    folder.cli([...start, "--detach"]);
    expect(folder.cli(["resume", "@"]).stderr).toMatch(/^resuming r_\w+\n {2}✓ work +1 +Done +1 call /);
  });

  test("resume of a final run shows it, with its exit code, and adds nothing", async () => {
    using folder = runFolder({ ...files, "script.yaml": states("{ event: Again }") });
    const { summary } = folder.summary(start);
    const before = await folder.journal(summary.run);
    expect(folder.summary(["resume", "@"])).toMatchObject({ code: 11, summary });
    expect(await folder.journal(summary.run)).toEqual(before);
  });

  test("a run keeps the pack it was started with, whatever becomes of the file", () => {
    using folder = runFolder({ ...files, "script.yaml": states("{ event: Ask }") });
    const { summary } = folder.summary(start);
    writeFileSync(join(folder.path, "pack.yaml"), pack.replace("Yes: end", "Yes: work, Other: end"));
    const wrong = folder.cli(["send", "@", "Other"]);
    expect(wrong.stderr).toContain("(allowed: Yes, No)");
    const ended = folder.summary(["send", "@", "Yes", "--follow"]);
    expect(ended).toMatchObject({ code: 0, summary: { pack: summary.pack } });
    expect(pathOf(folder.trace())).toBe("work → gate → end");
    expect(folder.summary(start).summary.pack.digest).not.toBe(summary.pack.digest);
  });

  test("time that ran out while nobody drove the run ends it on resume", async () => {
    using folder = runFolder({ ...files, "script.yaml": states("{ event: Ask }") });
    expect(folder.summary([...start, "--budget-seconds", "4"]).code).toBe(10);
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const ended = folder.summary(["resume", "@"]);
    expect(ended.code).toBe(11);
    expect(ended.summary.reason).toMatchObject({ limit: "max_wall_time_sec", value: 4, state: "gate" });
  });
});

test("a run of a seed with an external state waits, and says how to go on", () => {
  using folder = runFolder({ "s.yaml": "states: {}\n" });
  const ran = folder.cli(["run", seed("orchestrated-agent.json"), "--script", "s.yaml"]);
  expect(ran.code).toBe(10);
  expect(ran.stdout).toMatch(/ {2}packloop send r_\w+ AnalysisComplete --by NAME\n/);
});
