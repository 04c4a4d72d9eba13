// Secrets [LLM02]: canaries are pushed through every feature by a model and tools that tell all they know, and
// none of them is found in any output or file.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Summary } from "../../src/core/summary.ts";
import { hasTerminal, onTerminal } from "../cli/on-terminal.ts";
import { live, type RunFolder, runFolder } from "../cli/run-folder.ts";
import { DB_PASSWORD, FORMED, KNOWN, LEAK, leaksIn } from "./canaries.ts";
import { type LeakyWorld, leakyWorld } from "./leaky-world.ts";

/** Runs commands and remembers everything they printed. */
class Printed {
  readonly #folder: RunFolder;
  readonly #world: LeakyWorld;
  readonly #texts: { readonly what: string; readonly text: string }[] = [];

  constructor(folder: RunFolder, world: LeakyWorld) {
    this.#folder = folder;
    this.#world = world;
  }

  async run(...args: readonly string[]): Promise<{ readonly code: number | null; readonly text: string }> {
    const { code, text } = await live(args, this.#folder.path, this.#world.env).ended;
    this.add(args.join(" "), text);
    return { code, text };
  }

  add(what: string, text: string): void {
    this.#texts.push({ what, text });
  }

  async waiting(): Promise<Summary> {
    const { text } = await this.run("show", "@", "--json");
    return JSON.parse(text) as Summary;
  }

  /** `where: secrets`, for all that was printed and all files that were written. */
  leaks(given: readonly string[]): readonly string[] {
    const files = readdirSync(this.#folder.path, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name))
      .filter((path) => !given.includes(path));
    const contents = files.map((path) => ({ what: path, text: readFileSync(path, "utf8") }));
    return [...this.#texts, ...contents].flatMap(({ what, text }) => {
      const found = leaksIn(text);
      return found.length === 0 ? [] : [`${what.slice(0, 80)}: ${found.join(", ")}`];
    });
  }
}

/** The files that were there before anything ran. */
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));

test("there are enough of them, and they are found where they are", () => {
  expect(Object.keys(KNOWN).length + FORMED.length + 1).toBeGreaterThanOrEqual(30);
  expect(leaksIn(LEAK)).toHaveLength(Object.keys(KNOWN).length + FORMED.length + 1);
  for (const [name, value] of Object.entries(KNOWN)) {
    expect(leaksIn(Buffer.from(`a${value}`).toString("base64"))).toEqual([name]);
    expect(leaksIn(encodeURIComponent(value))).toEqual([name]);
  }
  expect(leaksIn(DB_PASSWORD)).toEqual(["DB_PASSWORD"]);
});

test("a run from its start to its end, looked at in every way, shows none", async () => {
  using folder = runFolder();
  const world = await leakyWorld(folder.path);
  const given = filesIn(folder.path);
  const printed = new Printed(folder, world);
  const first = await printed.run("run", "pack.yaml", "--stream", "--record", "tape.jsonl", "--input", "go");
  expect(first.code, first.text).toBe(10);
  expect(world.streams()).toBeGreaterThan(1);
  expect(first.text).toContain("[redacted LOCAL_KEY]");
  for (const args of [["inbox"], ["inbox", "--json"], ["ls"], ["ls", "--json"]]) await printed.run(...args);
  const sent = await printed.run(
    ...[
      "send",
      "@",
      "Go",
      "--context",
      LEAK,
      "--artifact",
      `sent=${LEAK}`,
      "--by",
      "ann",
      "--follow",
      "--stream",
    ],
  );
  expect(sent.code, sent.text).toBe(10);
  const [asked] = (await printed.waiting()).waiting_for;
  expect(asked).toMatchObject({ kind: "approval", tool: "danger" });
  for (const args of [["inbox"], ["inbox", "--json"], ["show", "@"]]) await printed.run(...args);
  const edited = await printed.run(
    "approve",
    "@",
    String(asked?.step),
    "--edit",
    JSON.stringify({ q: LEAK }),
  );
  expect(edited.code, edited.text).toBe(0);
  const [again] = (await printed.waiting()).waiting_for;
  await printed.run("approve", "@", String(again?.step));
  const ended = await printed.run("resume", "@", "--stream");
  expect(ended.code, ended.text).toBe(0);
  await lookAtAll(printed, folder);
  expect(printed.leaks(given)).toEqual([]);
}, 180_000);

async function lookAtAll(printed: Printed, folder: RunFolder): Promise<void> {
  for (const format of ["table", "md", "csv", "json", "jsonl"])
    await printed.run("trace", "@", "--format", format);
  const { turns } = await printed.waiting();
  for (const turn of [3, 5]) await printed.run("show", `@@${turn}`);
  for (const step of [1, 2, 3, 7, 12, 13]) await printed.run("step", "@", String(step), "--json");
  for (const part of ["--prompt", "--messages", "--raw"]) await printed.run("step", "@", "13", part);
  await printed.run("diff", "@@4", `@@${turns}`);
  await printed.run("verify", "@");
  await printed.run("replay", "@");
  await printed.run("export", "@", "--out", "run.json");
  const whole = JSON.stringify(await folder.journal((await printed.waiting()).run));
  printed.add("the journal", whole);
  expect(whole.length).toBeGreaterThan(10_000);
  const replayed = await printed.run("run", "pack.yaml", "--replay", "tape.jsonl", "--input", "go");
  expect(replayed.code, replayed.text).toBe(10);
  const other = await printed.run("run", "pack.yaml", "--replay", "tape.jsonl", "--input", `other ${LEAK}`);
  expect(other.text).toContain("cassette");
  await printed.run("rm", "@", "--yes");
  const forked = await printed.run("fork", "@@1", "--set", `artifact.notes=${LEAK}`, "--answer", `1=${LEAK}`);
  expect(forked.code, forked.text).toBe(0);
}

test.each([400, 401])(
  "a provider that answers %i with all it was sent gives none away",
  async (status) => {
    using folder = runFolder();
    const world = await leakyWorld(folder.path);
    const given = filesIn(folder.path);
    world.fail(status);
    const printed = new Printed(folder, world);
    const ran = await printed.run("run", "pack.yaml", "--record", "tape.jsonl");
    expect(ran.code, ran.text).toBe(1);
    await printed.run("show", "@");
    await printed.run("export", "@");
    expect(printed.leaks(given)).toEqual([]);
  },
  60_000,
);

test("a server of tools that tells its secret and cannot start gives none away", async () => {
  using folder = runFolder();
  const world = await leakyWorld(folder.path);
  const program =
    "process.stderr.write(process.env.OWN_TOKEN + '\\n' + process.env.OWN_TOKEN.slice(9)); process.exit(1)";
  const mcp = { command: [process.execPath, "-e", program], env: ["OWN_TOKEN"] };
  const tools = { "mcp__own__*": { mcp }, mcp_env: { mcp, tool: "env", approval: "auto" } };
  writeFileSync(join(folder.path, "broken.yaml"), JSON.stringify({ tools }));
  writeFileSync(join(folder.path, "script.yaml"), "states: { collect: [{ calls: [{ tool: mcp_env }] }] }");
  const given = filesIn(folder.path);
  const printed = new Printed(folder, world);
  const ran = await printed.run("run", "pack.yaml", "--config", "broken.yaml", "--script", "script.yaml");
  expect(ran.code).not.toBe(0);
  expect(ran.text).toContain("OWN_TOKEN");
  expect(printed.leaks(given)).toEqual([]);
}, 60_000);

test("tests of packs report none, in any format", async () => {
  using folder = runFolder();
  const world = await leakyWorld(folder.path);
  const script =
    "script: { states: { collect: [{ calls: [{ tool: exec_leak }, { tool: exec_fail }] }, { text: x }] } }";
  const expected = "expect: { status: completed, artifacts: { notes: other } }";
  writeFileSync(
    join(folder.path, "a.test.yaml"),
    `pack: pack.yaml\n${script}\ntests:\n  - name: leaks\n    ${expected}\n`,
  );
  const given = filesIn(folder.path);
  const printed = new Printed(folder, world);
  for (const format of ["pretty", "json", "junit"]) {
    const ran = await printed.run("test", "--format", format);
    expect(ran.code, ran.text).toBe(1);
  }
  expect(printed.leaks(given)).toEqual([]);
}, 60_000);

test.runIf(hasTerminal)(
  "the live view shows none, streamed or not",
  async () => {
    using folder = runFolder();
    const world = await leakyWorld(folder.path);
    const given = filesIn(folder.path);
    const printed = new Printed(folder, world);
    for (const flags of [["--stream"], []]) {
      const shown = onTerminal(["run", "pack.yaml", "--no-input", ...flags], {
        cwd: folder.path,
        columns: 200,
        env: world.env,
      });
      const { bytes, code } = await shown.ended;
      printed.add(`live ${flags.join("")}`, bytes);
      expect(code, bytes).toBe(10);
    }
    expect(printed.leaks(given)).toEqual([]);
  },
  60_000,
);
