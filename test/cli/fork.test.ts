// `packloop fork`: a new run from a turn of another, with edits.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Folder, folderOfRuns, lastLine, pack, type Summary } from "./sample-runs.ts";

/** Turn 3 has asked the model for the second time in the first visit; its step is the only one at work. */
const CUT = 3;

interface DryRun {
  readonly state: string;
  readonly calls: readonly {
    readonly step: number;
    readonly kind: string;
    readonly tool?: string;
    readonly args?: unknown;
  }[];
  readonly waiting_for: readonly { readonly kind: string }[];
}

const plan = (folder: Folder, ...args: string[]): DryRun =>
  folder.json<DryRun>(0, "fork", "--dry-run", "--json", ...args);

const fork = (folder: Folder, ...args: string[]): Summary =>
  folder.json<Summary>(0, "fork", "--json", ...args);

const followed = (folder: Folder, ...args: string[]): Summary =>
  lastLine(folder.run("fork", "--follow", "--json", ...args));

const journal = (folder: Folder, run: string): string => folder.run("export", run).stdout;

describe("a fork", () => {
  test("goes on from the turn with what is open there, and leaves the other run as it was", () => {
    using folder = folderOfRuns();
    const run = folder.completed();
    const before = journal(folder, run);
    const made = followed(folder, `${run}@${CUT}`);
    expect(made.status).toBe("waiting");
    expect(made.state).toBe("gate");
    expect(made.forked_from).toEqual({ run, turn: CUT });
    expect(made.visits).toEqual({ work: 2, gate: 1 });
    expect(journal(folder, run)).toBe(before);
    expect(folder.run("verify", "--all").code).toBe(0);
  });

  test("without --follow is made and left to `resume`, and calls nothing", () => {
    using folder = folderOfRuns();
    const made = fork(folder, `${folder.completed()}@${CUT}`);
    expect(made.status).toBe("running");
    expect(made.turns).toBe(CUT + 1);
    expect(lastLine(folder.run("resume", made.run, "--json")).state).toBe("gate");
  });

  test("keeps what was spent, unless the budget is reset", () => {
    using folder = folderOfRuns();
    const run = folder.completed();
    expect(fork(folder, `${run}@${CUT}`).used).toMatchObject({ visits: 1, tool_calls: 1, model_calls: 2 });
    expect(fork(folder, `${run}@${CUT}`, "--reset-budget").used).toMatchObject({ visits: 0, tool_calls: 0 });
  });

  test("does not count the time since the turn it was cut at", () => {
    using folder = folderOfRuns();
    const run = folder.completed();
    const { used } = folder.json<Summary>(0, "show", `${run}@${CUT}`, "--json");
    expect(fork(folder, `${run}@${CUT}`).used["wall_ms"]).toBe(used["wall_ms"]);
  });
});

describe("edits", () => {
  test("an artifact is set, also one that is otherwise appended to", () => {
    using folder = folderOfRuns({ "log.txt": "from a file" });
    const run = folder.waiting();
    const turn = folder.json<Summary>(0, "show", run, "--json").turns;
    const made = fork(
      folder,
      `${run}@${turn}`,
      "--set",
      'artifact.report={"size":9}',
      "--set",
      "artifact.log=@log.txt",
    );
    const sent = lastLine(folder.run("send", made.run, "Approved", "--follow", "--json"));
    expect(sent.output?.artifacts).toEqual({ report: { size: 9 }, log: "from a file" });
  });

  test("what is appended after an artifact was set comes behind it", () => {
    using folder = folderOfRuns();
    const made = followed(folder, `${folder.waiting()}@${CUT}`, "--set", "artifact.log=begin");
    const sent = lastLine(folder.run("send", made.run, "Approved", "--follow", "--json"));
    expect(sent.output?.artifacts["log"]).toBe("begin\nfirst\nsecond");
  });

  test("a variable is changed in the prompts that follow", () => {
    using folder = folderOfRuns();
    const made = fork(folder, `${folder.waiting()}@${CUT}`, "--var", "task=that");
    expect(folder.run("step", made.run, "4", "--prompt").stdout).toContain("Do that.");
  });

  test("an event is chosen in place of the model", () => {
    using folder = folderOfRuns();
    const made = fork(folder, `${folder.waiting()}@${CUT}`, "--event", "Ready");
    expect(made.state).toBe("gate");
    expect(made.visits).toEqual({ work: 1, gate: 1 });
  });

  test("an answer takes the place of a tool's call, and the call is not made", () => {
    using folder = folderOfRuns();
    const run = folder.waiting();
    expect(plan(folder, `${run}@2`).calls).toMatchObject([
      { step: 3, kind: "tool", tool: "measure", args: { what: "width" } },
    ]);
    const edited = plan(folder, `${run}@2`, "--answer", '3={"width": 99}');
    expect(edited.calls).toMatchObject([{ step: 4, kind: "model" }]);
    const made = fork(folder, `${run}@2`, "--answer", '3={"width": 99}');
    expect(folder.run("step", made.run, "4", "--messages").stdout).toContain('"width": 99');
  });

  test("an answer of the model is written as in a script", () => {
    using folder = folderOfRuns({ "answer.json": '{ "artifacts": { "log": "mine" }, "event": "Ready" }' });
    const made = fork(folder, `${folder.waiting()}@${CUT}`, "--answer", "4=@answer.json");
    expect(made.state).toBe("gate");
    const sent = lastLine(folder.run("send", made.run, "Approved", "--follow", "--json"));
    expect(sent.output?.artifacts).toEqual({ log: "mine" });
  });

  test("another pack is gone on with, its events, limits and digest included", () => {
    using folder = folderOfRuns({
      "other.yaml": pack
        .replace("Approved: done, Rejected: work", "Fine: done")
        .replace("max_total_visits: 20", "max_total_visits: 5"),
    });
    const run = folder.waiting();
    const made = folder.json<Summary & { waiting_for: unknown; limits: unknown }>(
      0,
      "fork",
      run,
      "--pack",
      "other.yaml",
      "--json",
    );
    expect(made.pack.digest).not.toBe(folder.json<Summary>(0, "show", run, "--json").pack.digest);
    expect(made.waiting_for).toMatchObject([{ kind: "event", events: ["Fine"] }]);
    expect(made.limits).toMatchObject({ max_total_visits: 5 });
    expect(lastLine(folder.run("send", made.run, "Fine", "--follow", "--json")).status).toBe("completed");
    expect(folder.run("replay", made.run).code).toBe(0);
    expect(folder.run("verify", made.run).code).toBe(0);
  });
});

describe("--dry-run", () => {
  test("lists the calls, or that it waits, and makes nothing", () => {
    using folder = folderOfRuns();
    const run = folder.waiting();
    expect(plan(folder, `${run}@${CUT}`)).toMatchObject({
      state: "work",
      calls: [{ step: 4, kind: "model" }],
    });
    expect(plan(folder, run)).toMatchObject({ state: "gate", calls: [], waiting_for: [{ kind: "event" }] });
    expect(folder.json<readonly unknown[]>(0, "ls", "--json")).toHaveLength(1);
  });
});

describe("what cannot be is refused with one line, and no run is made", () => {
  // One folder for all: none of these changes anything in it.
  const without = pack
    .replaceAll(/\bwork: *$/gm, "labour:")
    .replace("entry: work", "entry: labour")
    .replaceAll(": work", ": labour");
  let folder: Folder;
  let run: string;
  beforeAll(() => {
    folder = folderOfRuns({ "without.yaml": without });
    run = folder.completed();
  });
  afterAll(() => folder[Symbol.dispose]());

  test.each([
    [["RUN@99"], 5, "has no turn 99"],
    [["RUN@0"], 5, "has no turn 0"],
    [["r_none@1"], 5, "run `r_none` does not exist"],
    [["RUN@x"], 2, "is not a run (expected RUN or RUN@TURN)"],
    [["RUN"], 6, "the run is completed"],
    [["RUN@3", "--event", "Nope"], 2, "event `Nope` is not allowed here (allowed: Again, Ready)"],
    [["RUN@3", "--set", "log=x"], 2, "--set expects artifact.NAME=VALUE, got `log`"],
    [["RUN@3", "--set", "artifact.report=x"], 2, "the text given is not JSON"],
    [["RUN@3", "--set", "artifact.none=x"], 2, "`none` is not an artifact of this workflow"],
    [["RUN@3", "--answer", "3=x"], 5, "step 3 is not open at this turn"],
    [["RUN@3", "--answer", "x"], 2, "--answer expects NAME=VALUE, got `x`"],
    [["RUN@3", "--answer", "x=1"], 2, "--answer expects STEP=JSON, got `x`"],
    [["RUN@3", "--answer", '4={"evnt": "Ready"}'], 2, "did you mean `event`?"],
    [["RUN@3", "--pack", "none.yaml"], 2, "cannot open `none.yaml`"],
    [["RUN@3", "--pack", "without.yaml"], 2, "`work` is not a state"],
    [["RUN@3", "--dry-run", "--follow"], 2, "give --dry-run or --follow, not both"],
  ])("%j", (args, code, message) => {
    const ran = folder.run("fork", ...args.map((arg) => arg.replace("RUN", run)));
    expect(ran.stderr).toContain(message);
    expect(ran.code).toBe(code);
    expect(folder.json<readonly unknown[]>(0, "ls", "--json")).toHaveLength(1);
  });

  test("a variable of the wrong type", () => {
    const typed = pack.replace("type: string, required: true", "type: number, required: true");
    writeFileSync(join(folder.path, "typed.yaml"), typed);
    const ran = folder.run("fork", `${run}@${CUT}`, "--pack", "typed.yaml");
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain("variable `task` must be a number");
  });
});
