// `packloop goal` with the ordinary engine: the built-in pack, scripted models and tools, and its budgets.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { goalPack } from "../../src/goal/goal-pack.ts";
import { openPack } from "../../src/pack/open-pack.ts";
import { root } from "./loop-host.ts";

const frame =
  "{ restated: Find it, criteria: [{ id: C1, text: it is known }], assumptions: [], unknowns: [] }";
const script = `states:
  frame:
    - { artifacts: { frame: { restated: too little } }, event: Framed }
    - { artifacts: { frame: ${frame} }, event: Framed }
  plan:
    - { artifacts: { plan: { todo: [{ id: T1, task: look, status: doing, serves: C1 }], next_focus: look } }, event: Planned }
  act:
    - { calls: [{ tool: look, args: { at: shelf } }], event: Acted }
  reflect:
    - { artifacts: { memory: not on the shelf }, event: Act }
    - artifacts: { report: { summary: It may be 7, criteria: [{ id: C1, met: false, evidence: ["step:2"] }], artifacts: [] } }
    - artifacts: { report: { summary: It must be 7, criteria: [{ id: C1, met: true, evidence: [] }], artifacts: [] } }
    - artifacts: { report: { summary: It is 7, criteria: [{ id: C1, met: true, evidence: ["step:2"] }], artifacts: [] } }
      event: Done
tools:
  look: [{ ok: nothing }, { ok: 7 }]
`;

const bin = join(root, "bin", "packloop");

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "packloop-goal-cli-"));
  writeFileSync(join(folder, "script.yaml"), script);
  return folder;
}

function packloop(cwd: string, ...args: readonly string[]) {
  const ended = spawnSync(process.execPath, [bin, ...args], { cwd, encoding: "utf8" });
  return { code: ended.status, out: ended.stdout, err: ended.stderr };
}

const goal = (...args: readonly string[]) => packloop(newFolder(), "goal", ...args);

const summaryOf = (out: string) => JSON.parse(out.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;

describe("packloop goal", () => {
  test("frames, plans, acts and reflects until the goal is reached; a frame of the wrong form is refused, and so is a report without ground", () => {
    const { code, out, err } = goal("find it", "--tools", "look", "--script", "script.yaml", "--json");
    expect(code, err).toBe(0);
    expect(summaryOf(out)).toMatchObject({
      status: "completed",
      visits: { frame: 1, plan: 1, act: 2, reflect: 2, done: 1 },
      used: { tool_calls: 2, model_calls: 9 },
      output: { text: "It is 7", artifacts: { memory: "not on the shelf", frame: { restated: "Find it" } } },
    });
  });

  test("ends with exit code 11 when its steps are spent", () => {
    const { code, out } = goal("find it", "--script", "script.yaml", "--max-steps", "1", "--json");
    expect(code).toBe(11);
    expect(summaryOf(out)).toMatchObject({
      status: "budget_exhausted",
      reason: { limit: "max_visits", state: "act" },
    });
  });

  test("goes on to its end when nobody reads its output any more", async () => {
    const folder = newFolder();
    const args = ["goal", "find it", "--tools", "look", "--script", "script.yaml", "--json"];
    const child = spawn(process.execPath, [bin, ...args], { cwd: folder });
    child.stdout.destroy();
    const said = text(child.stderr);
    await once(child, "exit");
    expect(await said).toBe("");
    expect(child.exitCode).toBe(0);
    expect(JSON.parse(packloop(folder, "show", "@", "--json").out)).toMatchObject({ status: "completed" });
  });

  test("is refused before anything starts without a tool, a goal or a number that makes sense", () => {
    const cases: readonly (readonly [readonly string[], string])[] = [
      [["find it"], "no tool is bound"],
      [["find it", "--tools", "other", "--script", "script.yaml"], "nothing is bound to `other`"],
      [[" ", "--script", "script.yaml"], "the goal is empty"],
      [["find it", "--max-steps", "0"], "`0` is not a whole number from 1 on"],
      [["find it", "--tools", "a,,b"], "expected names with commas"],
    ];
    for (const [args, message] of cases) {
      const { code, err } = goal(...args);
      expect([args, code]).toEqual([args, 2]);
      expect(err).toContain(message);
    }
  });
});

const noted = `states:
  frame: [{ artifacts: { frame: ${frame} }, event: Framed }]
  plan:
    - { artifacts: { plan: { todo: [{ id: T1, task: look, status: doing, serves: C1 }], next_focus: look } }, event: Planned }
  act: [{ calls: [{ tool: note, args: { path: artifacts/n.txt, content: seven } }], event: Acted }]
  reflect:
    - artifacts: { report: { summary: It is 7, criteria: [{ id: C1, met: true, evidence: [artifacts/n.txt] }], artifacts: [] } }
      event: Done
`;

describe("a run with a file as evidence", () => {
  test("is judged by a server that has taken it up or started it, and a fork of it has the file too", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "noted.yaml"), noted);
    writeFileSync(
      join(folder, "packloop.yaml"),
      "tools: { note: { builtin: fs, op: write, approval: gate } }",
    );
    const pursue = (what: string) => packloop(folder, "goal", what, "--script", "noted.yaml", "--json");
    const begun = pursue("find it");
    expect(begun.code).toBe(10);
    const run = String(summaryOf(begun.out)["run"]);
    const server = spawn(process.execPath, [bin, "serve", "--port", "0"], { cwd: folder });
    const ended = once(server, "exit");
    try {
      await once(server.stdout, "data");
      const other = pursue("another");
      expect(other.code, other.err).toBe(10);
      for (const id of [String(summaryOf(other.out)["run"]), run]) {
        expect(packloop(folder, "approve", id).code).toBe(0);
        const shown = () => JSON.parse(packloop(folder, "show", id, "--json").out) as Record<string, unknown>;
        await expect.poll(shown, { timeout: 50_000 }).toMatchObject({ status: "completed", turns: 8 });
      }
    } finally {
      server.kill("SIGKILL");
      await ended;
    }
    const forked = packloop(folder, "fork", `${run}@6`, "--follow", "--json");
    expect(forked.code, forked.err).toBe(0);
    expect(summaryOf(forked.out)).toMatchObject({ status: "completed", visits: { act: 1, gate: 1 } });
  });
});

test("the built-in pack has no errors, and the checker proves that every run of it ends", () => {
  const pack = openPack(JSON.stringify(goalPack({ tools: ["look"], stepsMax: 3, reframesMax: 2 })), {
    file: "goal.pack.json",
  });
  if (!pack.ok) throw pack.toError();
  expect(pack.bound).toMatchObject({
    verdict: "guards",
    toolCalls: 3,
    perState: { act: 3, frame: 3, done: 1 },
  });
});
