// A fork through the engine: which calls leave, and under which key.

import { expect, test } from "vitest";
import type { ModelReply } from "../core/facts.ts";
import { openPack } from "../pack/open-pack.ts";
import { MemoryDisk, memoryStore } from "../store/memory.ts";
import { Engine } from "./engine.ts";
import type { Clock } from "./ports.ts";

const text = `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go., tools: [pay] }
tools:
  pay: { name: pay, description: Pays., parameters: { type: object, properties: {} } }
`;

const clock: Clock = {
  now: () => 1_000,
  sleep: (_ms, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
};

const say = (said: Partial<ModelReply>): ModelReply => ({
  text: "",
  calls: [],
  usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
  ...said,
});

/** A model that calls `pay` once and then concludes; a tool that may not be called twice for one step. */
function engineOn(disk: MemoryDisk, paid: string[], asked: string[]): Engine {
  return new Engine({
    store: memoryStore(disk),
    clock,
    portsOf: async () => ({
      model: {
        call: async (_request, { key, nth }) => {
          asked.push(key);
          return nth === 0 ? say({ calls: [{ id: "1", tool: "pay", args: {} }] }) : say({ text: "paid" });
        },
      },
      tools: {
        knows: () => true,
        isSafe: () => false,
        call: async (_tool, _args, { key }) => {
          paid.push(key);
          return { ok: true, value: "done" };
        },
      },
    }),
  });
}

async function startedOn(engine: Engine, gated: readonly string[] = []): Promise<void> {
  const pack = openPack(text, { file: "p.yaml" });
  if (!pack.ok) throw pack.toError();
  await engine.start({
    id: "r",
    program: pack.program,
    digest: pack.digest,
    source: text,
    setup: {},
    input: { mode: "autonomous", variables: {}, input: "", gated },
  });
  await engine.settled("r");
}

const plain = { id: "f", from: { run: "r", turn: 2 }, resetBudget: false, setup: {} };

test("what is open at the cut is performed under the fork's own key, also what may not be repeated", async () => {
  const [paid, asked]: [string[], string[]] = [[], []];
  await using engine = engineOn(new MemoryDisk(), paid, asked);
  await startedOn(engine);
  expect((await engine.fork(plain)).kind).toBe("done");
  expect((await engine.settled("f")).final).toBe("completed");
  expect(paid).toEqual(["r/2", "f/2"]);
  expect(asked, "what the prefix had answered is not asked again").toEqual(["r/1", "r/3", "f/3"]);
});

test("a substituted answer takes the place of the call, which never leaves", async () => {
  const [paid, asked]: [string[], string[]] = [[], []];
  await using engine = engineOn(new MemoryDisk(), paid, asked);
  await startedOn(engine);
  await engine.fork({ ...plain, answers: [{ step: 2, outcome: { ok: true, value: "by hand" } }] });
  expect((await engine.settled("f")).final).toBe("completed");
  expect(paid).toEqual(["r/2"]);
});

test("an idle engine makes the fork and performs nothing", async () => {
  const disk = new MemoryDisk();
  const [paid, asked]: [string[], string[]] = [[], []];
  await using engine = engineOn(disk, paid, asked);
  await startedOn(engine);
  await using idle = new Engine({
    store: memoryStore(disk),
    clock,
    idle: true,
    portsOf: () => Promise.reject(new Error("nobody is asked")),
  });
  const forked = await idle.fork(plain);
  expect(forked).toMatchObject({ kind: "done", run: { turn: 3, final: null, open: { 2: { hold: null } } } });
  expect(paid).toEqual(["r/2"]);
});

test.each([2, 3])(
  "a fork at turn %i that nobody performed is resumed as if nothing had left",
  async (turn) => {
    const disk = new MemoryDisk();
    const [paid, asked]: [string[], string[]] = [[], []];
    {
      await using engine = engineOn(disk, paid, asked);
      await startedOn(engine);
      const portsOf = () => Promise.reject(new Error("nobody is asked"));
      await using idle = new Engine({ store: memoryStore(disk), clock, idle: true, portsOf });
      await idle.fork({ ...plain, from: { run: "r", turn } });
    }
    await using later = engineOn(disk, paid, asked);
    await later.resume("f");
    expect((await later.settled("f")).final).toBe("completed");
    expect(paid).toEqual(["r/2", "f/2"]);
  },
);

test("a call that an idle engine let a person approve is made by whoever resumes the run", async () => {
  const disk = new MemoryDisk();
  const [paid, asked]: [string[], string[]] = [[], []];
  {
    await using engine = engineOn(disk, paid, asked);
    await startedOn(engine, ["pay"]);
    expect(paid).toEqual([]);
    const portsOf = () => Promise.reject(new Error("nobody is asked"));
    await using idle = new Engine({ store: memoryStore(disk), clock, idle: true, portsOf });
    expect(await idle.submit("r", { type: "approve", at: 1_000, step: 2, by: "ann" })).toMatchObject({
      kind: "done",
    });
  }
  await using later = engineOn(disk, paid, asked);
  await later.resume("r");
  expect((await later.settled("r")).final).toBe("completed");
  expect(paid).toEqual(["r/3"]);
});

test("an unknown origin is refused, and no run is made", async () => {
  await using engine = engineOn(new MemoryDisk(), [], []);
  expect(await engine.fork(plain)).toMatchObject({ kind: "refused", refusal: { code: "unknown-run" } });
  expect(await engine.load("f")).toBeUndefined();
});
