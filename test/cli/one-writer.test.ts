// The store as commands meet it: foreign, damaged and newer files, two processes, Ctrl-C.

import { copyFileSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { factsOf, live, runFolder } from "./run-folder.ts";
import { files, start } from "./work-pack.ts";

const slowModel =
  "states:\n  work: [{ event: Again }, { event: Done, delay_ms: 5000 }]\n  end: [{ text: Bye. }]\n";
const slowTool =
  "states:\n  work: [{ calls: [{ tool: look }] }, { event: Done }]\n  end: [{ text: Bye. }]\ntools:\n  look: [{ ok: bright, delay_ms: 1500 }]\n";
const quick = "states:\n  work: [{ event: Again }, { event: Done }]\n  end: [{ text: Bye. }]\n";

const commands = [
  ["run", [...start]],
  ["resume", ["resume", "@"]],
  ["send", ["send", "@", "Yes"]],
  ["ls", ["ls"]],
  ["show", ["show", "@"]],
  ["trace", ["trace", "@"]],
] as const;

describe("files that are not a sound store", () => {
  test.each(commands)("a foreign file: %s says so in one line and leaves it alone", (_, args) => {
    using folder = runFolder({ ...files, "notes.db": "these are my notes, not a database\n" });
    const ran = folder.cli([...args, "--store", "notes.db"]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toMatch(/^error: `notes\.db` is not a packloop store[^\n]*\n$/);
    expect(readFileSync(join(folder.path, "notes.db"), "utf8")).toBe("these are my notes, not a database\n");
  });

  test.each(commands)("another program's database: %s", (_, args) => {
    using folder = runFolder(files);
    const path = join(folder.path, "other.db");
    const other = new DatabaseSync(path);
    other.exec("CREATE TABLE t (x)");
    other.close();
    const before = readFileSync(path);
    const ran = folder.cli([...args, "--store", "other.db"]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toMatch(/^error: `other\.db` is not a packloop store[^\n]*\n$/);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test.each(commands)("a store of a newer packloop: %s", (_, args) => {
    using folder = runFolder(files);
    folder.cli(start);
    const db = new DatabaseSync(folder.store);
    db.exec("UPDATE meta SET value = 99 WHERE name = 'schema'");
    db.close();
    const ran = folder.cli(args);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toMatch(/^error: the store `[^`]+` has format 99 [^\n]*newer packloop\n$/);
  });

  test.each(commands)("a damaged store: %s", (_, args) => {
    using folder = runFolder(files);
    folder.cli(start);
    const copy = join(folder.path, "cut.db");
    copyFileSync(folder.store, copy);
    truncateSync(copy, Math.floor(statSync(copy).size / 2));
    const ran = folder.cli([...args, "--store", "cut.db"]);
    expect([2, 3]).toContain(ran.code);
    expect(ran.stdout).toBe("");
    expect(ran.stderr).toMatch(/^error: (?!packloop itself)[^\n]*\n$/);
  });

  test("a folder in place of the file", () => {
    using folder = runFolder(files);
    mkdirSync(join(folder.path, "d.db"));
    const ran = folder.cli([...start, "--store", "d.db"]);
    expect([2, 3]).toContain(ran.code);
    expect(ran.stderr).toMatch(/^error: (?!packloop itself)[^\n]*\n$/);
  });
});

describe("two processes", () => {
  test("the second writer leaves with 6 and names the owner; readers go on", async () => {
    using folder = runFolder({ ...files, "script.yaml": slowModel.replace("5000", "60000") });
    const first = live([...start, "--json"], folder.path);
    await first.until((text) => text.includes('"turn":2'));
    for (const args of [start, ["resume", "@"], ["send", "@", "Yes"], ["cancel", "@"]]) {
      const ran = folder.cli(args);
      expect(ran).toMatchObject({ code: 6, stdout: "" });
      expect(ran.stderr).toContain(`in use by process ${first.pid} on `);
      expect(ran.stderr).toContain("(`packloop run`, since ");
    }
    expect(JSON.parse(folder.cli(["show", "@", "--json"]).stdout)).toMatchObject({
      status: "running",
      turns: 2,
    });
    expect(folder.trace()).toHaveLength(2);
    first.kill("SIGKILL");
    expect((await first.ended).signal).toBe("SIGKILL");
    expect(folder.cli(["cancel", "@"]).code).toBe(12);
  });
});

describe("Ctrl-C", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 130],
  ] as const)(
    "%s once pauses at once in a model's call: %d, the command to go on, nothing journaled",
    async (signal, expected) => {
      using folder = runFolder({ ...files, "script.yaml": slowModel, "quick.yaml": quick });
      const process = live([...start, "--json"], folder.path);
      await process.until((text) => text.includes('"turn":2'));
      process.kill(signal);
      const { code, text } = await process.ended;
      expect(code).toBe(expected);
      const run = /"run":"(r_\w+)"/.exec(text)?.[1] ?? "";
      const summary = text.split("\n").findLast((line) => line.startsWith("{")) ?? "";
      expect(JSON.parse(summary)).toMatchObject({
        run,
        status: "running",
        turns: 2,
        used: { model_calls: 2 },
      });
      expect(text).toContain(`paused at turn 2; continue with: packloop resume ${run}\n`);
      // The grace is ten seconds: had the call been waited for, its answer would be the third turn.
      expect(await folder.journal(run)).toHaveLength(2);
      const ended = folder.summary(["resume", run, "--script", "quick.yaml"]);
      expect(ended).toMatchObject({ code: 0, summary: { status: "completed", used: { model_calls: 3 } } });
    },
  );

  test("a tool at work may finish and is recorded", async () => {
    using folder = runFolder({ ...files, "script.yaml": slowTool });
    const process = live([...start, "--json"], folder.path);
    await process.until((text) => text.includes('"kind":"tool"'));
    process.kill("SIGINT");
    const { code, text } = await process.ended;
    expect(code).toBe(130);
    const run = /"run":"(r_\w+)"/.exec(text)?.[1] ?? "";
    expect(text).toContain(`paused at turn 3; continue with: packloop resume ${run}\n`);
    const answers = factsOf(await folder.journal(run)).filter((fact) => fact.type === "answered");
    expect(answers.at(-1)?.outcome).toEqual({ ok: true, value: "bright" });
    expect(folder.summary(["resume", run]).code).toBe(0);
  });

  test("--grace says how long: with none the call is left open", async () => {
    using folder = runFolder({ ...files, "script.yaml": slowTool.replace("1500", "60000") });
    const process = live([...start, "--json", "--grace", "0s"], folder.path);
    await process.until((text) => text.includes('"kind":"tool"'));
    process.kill("SIGINT");
    const { code, text } = await process.ended;
    expect(code).toBe(130);
    expect(text).toContain("paused at turn 2;");
  });

  test("twice leaves at once, and the run goes on later", async () => {
    using folder = runFolder({ ...files, "script.yaml": slowTool.replace("1500", "8000") });
    const process = live([...start, "--json"], folder.path);
    await process.until((text) => text.includes('"kind":"tool"'));
    process.kill("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 200));
    process.kill("SIGINT");
    const { code, text } = await process.ended;
    expect(code).toBe(130);
    expect(text).not.toContain("paused");
    // Within the grace the call would have been answered.
    const run = /"run":"(r_\w+)"/.exec(text)?.[1] ?? "";
    expect(await folder.journal(run)).toHaveLength(2);
    writeFileSync(join(folder.path, "quick.yaml"), slowTool.replace("1500", "0"));
    const ended = folder.summary(["resume", "@", "--script", "quick.yaml"]);
    expect(ended).toMatchObject({ code: 0, summary: { used: { tool_calls: 1 } } });
  });
});
