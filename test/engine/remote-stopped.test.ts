// Work that a tool has going elsewhere is ended when nobody waits for it any more, also after a crash.

import { describe, expect, test } from "vitest";
import type { Json } from "../../src/base/json.ts";
import type { Input } from "../../src/core/input.ts";
import type { Run } from "../../src/core/run.ts";
import { Engine } from "../../src/engine/engine.ts";
import { type Clock, Fault, type ToolAnswer } from "../../src/engine/ports.ts";
import { openPack } from "../../src/pack/open-pack.ts";
import { MemoryDisk, memoryStore } from "../../src/store/memory.ts";

const text = `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go., tools: [far] }
tools:
  far: { name: far, description: Works elsewhere., parameters: { type: object, properties: {} } }
`;

const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
const LATER: ToolAnswer = { deferred: true, question: "go on?", handle: { task: "t1" }, stoppable: true };

interface World {
  readonly disk: MemoryDisk;
  readonly stopped: Json[];
  /** How often stopping fails first. */
  failures: number;
  /** Stopping never comes back. */
  hangs: boolean;
  answer: ToolAnswer;
}

const worldOf = (answer: ToolAnswer = LATER): World => ({
  disk: new MemoryDisk(),
  stopped: [],
  failures: 0,
  hangs: false,
  answer,
});

/** Pauses between attempts are over at once; timers never come. */
const clock: Clock = {
  now: () => 1000,
  sleep: (ms, signal) =>
    ms < 60_000
      ? Promise.resolve()
      : new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
};

function engineOn(world: World, idle = false): Engine {
  return new Engine({
    store: memoryStore(world.disk),
    clock,
    idle,
    portsOf: async () => ({
      model: {
        call: async (_request, { nth }) =>
          nth === 0
            ? { text: "", calls: [{ id: "1", tool: "far", args: {} }], usage }
            : { text: "done", calls: [], usage },
      },
      tools: {
        knows: () => true,
        isSafe: () => false,
        call: async () => world.answer,
        async stop(_tool, { handle, signal }) {
          if (world.hangs && !signal.aborted)
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
          signal.throwIfAborted();
          if (world.failures-- > 0) throw new Fault("network", "away", { retry: "later" });
          world.stopped.push(handle ?? null);
        },
      },
    }),
  });
}

async function waiting(engine: Engine): Promise<Run> {
  const pack = openPack(text, { file: "p.yaml" });
  if (!pack.ok) throw pack.toError();
  const { program, digest } = pack;
  const input = { mode: "autonomous" as const, variables: {}, input: "" };
  await engine.start({ id: "r", program, digest, source: text, setup: {}, input });
  return await engine.settled("r");
}

const cancel: Input = { type: "cancel", at: 1000, by: "ann", reason: "" };
const openOf = async (engine: Engine, id = "r") => Object.keys((await engine.load(id))?.open ?? {});

describe("work elsewhere", () => {
  test("is ended when its run is cancelled, and then nothing is owed", async () => {
    const world = worldOf();
    await using engine = engineOn(world);
    await waiting(engine);
    await engine.submit("r", cancel);
    await expect.poll(() => openOf(engine)).toEqual([]);
    expect(world.stopped).toEqual([{ task: "t1" }]);
  });

  test("is ended by whoever takes the run up when the one before could not", async () => {
    const world = worldOf();
    await using engine = engineOn(world);
    await waiting(engine);
    world.hangs = true;
    const first = engineOn(world, true);
    await first.submit("r", cancel);
    await first[Symbol.asyncDispose]();
    expect(world.stopped).toEqual([]);
    world.hangs = false;
    await using later = engineOn(world);
    await later.resume("r");
    await expect.poll(() => openOf(later)).toEqual([]);
    expect(world.stopped).toEqual([{ task: "t1" }]);
  });

  test("is told again while it cannot be reached", async () => {
    const world = worldOf();
    world.failures = 3;
    await using engine = engineOn(world);
    await waiting(engine);
    await engine.submit("r", cancel);
    await expect.poll(() => openOf(engine)).toEqual([]);
    expect(world.stopped).toEqual([{ task: "t1" }]);
  });

  test("is heard of before an engine is closed", async () => {
    const world = worldOf();
    const engine = engineOn(world);
    await waiting(engine);
    await engine.submit("r", cancel);
    await engine[Symbol.asyncDispose]();
    expect(world.stopped).toEqual([{ task: "t1" }]);
  });

  test("is ended when a person answers in its place", async () => {
    const world = worldOf({ deferred: true, handle: { task: "t1" }, stoppable: true });
    await using engine = engineOn(world);
    await waiting(engine);
    const outcome = { ok: true as const, value: "by hand" };
    await engine.submit("r", { type: "answer", at: 1000, step: 2, outcome, by: "ann" });
    expect((await engine.settled("r")).final).toBe("completed");
    // The end of the run may come while it is being told, and tells it again.
    await expect.poll(() => world.stopped).toContainEqual({ task: "t1" });
  });

  test("that has come to its own end is left alone", async () => {
    const world = worldOf();
    await using engine = engineOn(world);
    await waiting(engine);
    world.answer = { ok: true, value: "done" };
    const outcome = { ok: true as const, value: "yes" };
    await engine.submit("r", { type: "answer", at: 1000, step: 2, outcome, by: "ann" });
    expect((await engine.settled("r")).final).toBe("completed");
    expect(world.stopped).toEqual([]);
  });

  test("belongs to the run that began it, not to its forks", async () => {
    const world = worldOf();
    await using engine = engineOn(world);
    const { turn } = await waiting(engine);
    await engine.fork({ id: "f", from: { run: "r", turn }, resetBudget: false, setup: {} });
    await engine.submit("f", cancel);
    expect(await openOf(engine, "f")).toEqual([]);
    expect(world.stopped).toEqual([]);
  });

  test("that nothing was said about is not asked to stop", async () => {
    const world = worldOf({ deferred: true, question: "go on?", handle: { task: "t1" } });
    await using engine = engineOn(world);
    await waiting(engine);
    await engine.submit("r", cancel);
    expect(await openOf(engine)).toEqual([]);
  });
});
