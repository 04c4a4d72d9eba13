// Runs are recorded and replayed by the command line, with tools that really work while it records.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runFolder } from "../../cli/run-folder.ts";
import {
  config,
  files,
  pack,
  record,
  recorded,
  replay,
  replayFolder,
  rewrite,
  script,
  wayOf,
} from "./recorded-run.ts";

const cassette = recorded();

describe("a replay", () => {
  test("takes the same way without a model, tools, script or configuration", () => {
    using folder = runFolder(files);
    expect(folder.cli(record).code).toBe(0);
    const before = folder.trace();
    expect(existsSync(join(folder.path, "work", "tides.txt"))).toBe(true);
    using bare = replayFolder(readFileSync(join(folder.path, "run.cassette"), "utf8"));
    const { code, summary, stderr } = bare.summary(replay);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(summary.output).toMatchObject({ text: "The water goes out.", artifacts: { found: "ebb" } });
    expect(wayOf(bare.trace())).toEqual(wayOf(before));
    expect(existsSync(join(bare.path, ".packloop", "work"))).toBe(false);
    expect(existsSync(join(bare.path, "work"))).toBe(false);
  });

  test("gives a tool's errors as they were", async () => {
    using folder = replayFolder(cassette);
    const { summary } = folder.summary(replay);
    const facts = (await folder.journal(summary.run)).flatMap((row) => row.facts);
    const failed = facts.flatMap((fact) =>
      fact.type === "answered" && !fact.outcome.ok ? [fact.outcome] : [],
    );
    expect(failed).toHaveLength(1);
    expect(failed[0]?.message).toContain("nowhere.txt");
  });

  test.each([2, 5, 8])("that is killed at turn %i goes on and takes the same way", (turn) => {
    using whole = replayFolder(cassette);
    whole.cli(replay);
    using folder = replayFolder(cassette);
    const killed = folder.cli(replay, { env: { PACKLOOP_CRASH_AT: `commit:${turn}:before` } });
    expect(killed.code).toBe(null);
    const { code, summary } = folder.summary(["resume", "@"]);
    expect(code).toBe(0);
    expect(summary.status).toBe("completed");
    expect(wayOf(folder.trace())).toEqual(wayOf(whole.trace()));
  });

  test("still needs the people that the recorded run needed", () => {
    const gated = recordedWith({ "packloop.yaml": `${config}approvals: [save]\n` });
    using folder = replayFolder(gated);
    const { code, summary } = folder.summary(replay);
    expect({ code, waits: summary.waiting_for }).toMatchObject({
      code: 10,
      waits: [{ kind: "approval", tool: "save" }],
    });
    expect(folder.summary(["approve", "@", "2", "--by", "ann", "--follow"])).toMatchObject({ code: 0 });
  });
});

test("agents are recorded and replayed each with its own steps", () => {
  const boss = `id: boss
name: Boss
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  boss: { id: boss, name: Boss, version: 1.0.0, system_template: Ask twice., tools: [helper] }
  helper: { id: helper, name: Helper, version: 1.0.0, system_template: Look. }
agents: { entry: boss, members: { boss: { description: The boss }, helper: { description: Helps } } }
`;
  const ask = "{ calls: [{ tool: helper, args: { query: the same } }] }";
  const played = `prompts:\n  boss: [${ask}, ${ask}, { text: both done }]\n  helper: [{ text: seen }]\n`;
  using folder = runFolder({ "boss.pack.yaml": boss, "s.yaml": played });
  const started = ["run", "boss.pack.yaml"];
  expect(folder.cli([...started, "--script", "s.yaml", "--record", "a.cassette"]).code).toBe(0);
  const steps = readFileSync(join(folder.path, "a.cassette"), "utf8").matchAll(/"step":"([^"]+)"/g);
  expect([...steps].map(([, step]) => step)).toEqual(["1", "2/1", "3", "4/1", "5"]);
  expect(folder.summary([...started, "--replay", "a.cassette"]).summary).toMatchObject({
    status: "completed",
    output: { text: "both done" },
  });
});

/** Recorded with a person who approves. */
function recordedWith(others: Readonly<Record<string, string>>): string {
  using folder = runFolder({ ...files, ...others });
  expect(folder.cli(record).code).toBe(10);
  expect(folder.cli(["approve", "@", "2", "--by", "ann", "--follow"]).code).toBe(0);
  return readFileSync(join(folder.path, "run.cassette"), "utf8");
}

describe("the first request that differs is named", () => {
  test("when a variable is another", () => {
    using folder = replayFolder(cassette);
    const { code, summary } = folder.summary(replay.map((arg) => arg.replace("tides", "moons")));
    expect(code).toBe(1);
    expect(summary.reason).toMatchObject({ code: "cassette_miss", state: "write" });
    expect(summary.reason?.message).toBe(
      "step 1 in `write` asks the model what `run.cassette` does not hold: recorded step 1 differs at /system: `Write about tides.` became `Write about moons.` (record it again)",
    );
  });

  test("when the pack was edited after its first state", () => {
    using folder = replayFolder(cassette);
    rewrite(folder, "notes.pack.yaml", (text) => text.replace('"Tell: ', '"Say: '));
    const { summary } = folder.summary(replay);
    expect(summary.reason).toMatchObject({ code: "cassette_miss", state: "tell" });
    expect(summary.reason?.message).toMatch(
      /in `tell` asks the model .* differs at \/system: `Tell: ebb` became `Say: ebb`/,
    );
  });

  test("when a tool is asked with other arguments, before anything that follows from it", () => {
    using folder = replayFolder(cassette.replaceAll("flow", "storm").replace(/(answer.*)storm/, "$1flood"));
    const { summary } = folder.summary(replay);
    expect(summary.reason?.message).toMatch(
      /step \d+ in `write` asks tool `save` what `run.cassette` does not hold/,
    );
    expect(summary.reason?.message).toContain(
      "differs at /args/content: `ebb and storm` became `ebb and flood`",
    );
  });

  test("when the run goes on past what was recorded", () => {
    const lines = cassette.trimEnd().split("\n");
    using folder = replayFolder(`${lines.slice(0, -1).join("\n")}\n`);
    expect(folder.summary(replay).summary.reason?.message).toBe(
      "step 8 in `tell` asks the model what `run.cassette` does not hold (record it again)",
    );
  });
});

describe("a file that is no cassette starts nothing", () => {
  const [head = "", first = ""] = cassette.split("\n");
  test.each([
    ["is missing", undefined, "no such file"],
    ["is empty", "", "it is empty"],
    ["is another program's", '{"interactions": []}\n', "its first line does not say packloop-cassette/1"],
    ["is no JSON", "version: 1\n", "its first line does not say packloop-cassette/1"],
    ["is of another version", `${head.replace("cassette/1", "cassette/9")}\n`, "its first line does not say"],
    ["is cut off", `${head}\n${first.slice(0, 60)}`, "line 2 is cut off"],
    ["has a damaged line", `${head}\n${first.slice(1)}\n`, "line 2 is damaged"],
    ["has a line of something else", `${head}\n{"kind":"tool"}\n`, "line 2 is damaged"],
  ])("when it %s", (_what, text, why) => {
    using folder = runFolder({
      "notes.pack.yaml": pack,
      ...(text !== undefined && { "run.cassette": text }),
    });
    const { code, stderr, stdout } = folder.cli(replay);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`error: \`run.cassette\` is no cassette: ${why}`);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(existsSync(folder.store)).toBe(false);
  });
});

describe("recording", () => {
  test("never writes over what was recorded", () => {
    using folder = runFolder(files);
    folder.cli(record);
    const before = readFileSync(join(folder.path, "run.cassette"), "utf8");
    const { code, stderr } = folder.cli(record);
    expect(code).toBe(2);
    expect(stderr).toBe(
      "error: `run.cassette` exists already (name another file, or remove it; a resumed run goes on recording by itself)\n",
    );
    expect(readFileSync(join(folder.path, "run.cassette"), "utf8")).toBe(before);
    expect(JSON.parse(folder.cli(["ls", "--json"]).stdout)).toHaveLength(1);
  });

  test("goes on when a killed run is resumed, over a line that the kill cut off", () => {
    using folder = runFolder(files);
    folder.cli(record, { env: { PACKLOOP_CRASH_AT: "commit:4:before" } });
    rewrite(folder, "run.cassette", (text) => `${text}{"kind":"model","st`);
    expect(folder.cli(["resume", "@"]).code).toBe(0);
    const before = folder.trace();
    using bare = replayFolder(readFileSync(join(folder.path, "run.cassette"), "utf8"));
    expect(bare.cli(replay).code).toBe(0);
    expect(wayOf(bare.trace())).toEqual(wayOf(before));
  });

  test("is given up with a warning when the cassette is gone, and the run goes on", () => {
    using folder = runFolder(files);
    folder.cli(record, { env: { PACKLOOP_CRASH_AT: "commit:4:before" } });
    rewrite(folder, "run.cassette", () => "");
    const { code, stderr } = folder.cli(["resume", "@"]);
    expect(code).toBe(0);
    expect(stderr).toContain(
      "warning: `run.cassette` is not recorded to any more: it is empty (the run goes on)",
    );
  });

  test("does not go on in a fork, which would write over the steps of its origin", () => {
    using folder = runFolder(files);
    folder.cli(record);
    const before = readFileSync(join(folder.path, "run.cassette"), "utf8");
    expect(folder.cli(["fork", "@@4", "--follow"]).code).toBe(0);
    expect(readFileSync(join(folder.path, "run.cassette"), "utf8")).toBe(before);
  });

  test("to a place that cannot be written starts nothing", () => {
    using folder = runFolder(files);
    const { code, stderr } = folder.cli(
      record.map((arg) => arg.replace("run.cassette", "no/where.cassette")),
    );
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "error: cannot record to `no/where.cassette` (no such file)\n",
    });
    expect(existsSync(folder.store)).toBe(false);
  });

  test("and replaying at once are refused", () => {
    using folder = replayFolder(cassette, { "script.yaml": script });
    const { code, stderr } = folder.cli([...replay, "--record", "other.cassette"]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "error: give --record or --replay, not both (a replay has nothing new to record)\n",
    });
    expect(existsSync(join(folder.path, "other.cassette"))).toBe(false);
  });

  test("keeps secrets out, wherever they come from, and the replay still fits", () => {
    const token = "tok-93-afternoon-violet";
    const secret = {
      "packloop.yaml": `${config}secrets: [NOTES_TOKEN]\n`,
      "script.yaml": script.replace("ebb and flow", token),
    };
    using folder = runFolder({ ...files, ...secret });
    const ran = folder.cli(
      record.map((arg) => arg.replace("topic=tides", `topic=${token}`)),
      { env: { NOTES_TOKEN: token } },
    );
    expect(ran.code).toBe(0);
    const written = readFileSync(join(folder.path, "run.cassette"), "utf8");
    expect(written).not.toContain(token);
    expect(written).toContain("[redacted NOTES_TOKEN]");
    using bare = replayFolder(written, { "packloop.yaml": "secrets: [NOTES_TOKEN]\n" });
    const env = { NOTES_TOKEN: token };
    expect(
      bare.cli(
        replay.map((arg) => arg.replace("tides", token)),
        { env },
      ).code,
    ).toBe(0);
    const other = bare.cli(
      replay.map((arg) => arg.replace("tides", `${token}!`)),
      { env },
    );
    expect(other.code).toBe(1);
    expect(other.stdout).not.toContain(token);
    expect(other.stdout).toContain("differs at /system");
  });
});
