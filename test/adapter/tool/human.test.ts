// Asking a person: the tool alone, and through the engine with answers, wrong answers and no answer at all.

import { describe, expect, test } from "vitest";
import { toolPort } from "../../../src/adapter/tool/bound-tool.ts";
import { bindHuman } from "../../../src/adapter/tool/human/bind-human.ts";
import { bindTime } from "../../../src/adapter/tool/time/bind-time.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { fold } from "../../../src/core/apply.ts";
import type { ModelReply } from "../../../src/core/facts.ts";
import { type Run, statusOf } from "../../../src/core/run.ts";
import { Engine } from "../../../src/engine/engine.ts";
import type { Clock } from "../../../src/engine/ports.ts";
import { openPack } from "../../../src/pack/open-pack.ts";
import { MemoryDisk, memoryStore } from "../../../src/store/memory.ts";
import { Bench, codeOf, problemsOf, valueOf } from "./fs-bench.ts";

const day = 86_400_000;

describe("the tool", () => {
  test("defers with the question, from the call or from the binding", async () => {
    await using bench = await Bench.make();
    const asks = bench.bind(bindHuman, { op: "ask" });
    expect([asks.tier, asks.safe]).toEqual(["read", true]);
    expect(await bench.call(asks, { question: "Ship?", options: ["yes", "no"] })).toEqual({
      deferred: true,
      question: { text: "Ship?", choices: ["yes", "no"] },
      handle: {},
    });
    const fixed = bench.bind(bindHuman, {
      op: "ask",
      question: "Which?",
      schema: { type: "integer" },
      expires: "24h",
    });
    const until = bench.now + day;
    expect(await bench.call(fixed, { question: "ignored" })).toEqual({
      deferred: true,
      question: { text: "Which?", schema: { type: "integer" } },
      handle: { until },
      until,
    });
  });

  test.each<[JsonObject, Json, Json]>([
    [{ question: "?" }, "anything", "anything"],
    [{ question: "?" }, { a: 1 }, { a: 1 }],
    [{ question: "?", choices: ["Yes", "No"] }, " yes ", "Yes"],
    [{ question: "?", choices: [1, 2] }, "2", 2],
    [{ question: "?", schema: { type: "object", required: ["a"] } }, { a: 1 }, { a: 1 }],
  ])("takes for %j the answer %j", async (args, input, answer) => {
    await using bench = await Bench.make();
    const tool = bench.bind(bindHuman, { op: "ask" });
    expect(valueOf(await bench.call(tool, args, { handle: {}, input }))).toEqual({ answer });
  });

  test.each<[JsonObject, Json, RegExp]>([
    [{ question: "?", choices: ["yes", "no"] }, "maybe", /`maybe` is not one of the choices .*`yes`, `no`/],
    [{ question: "?", choices: ["a", "A"] }, " A ", /not one of the choices/],
    [{ question: "?", schema: { type: "object", required: ["a"] } }, {}, /the answer does not fit/],
  ])("asks again for %j after %j", async (args, input, problem) => {
    await using bench = await Bench.make();
    const answer = await bench.call(bench.bind(bindHuman, { op: "ask" }), args, { handle: {}, input });
    expect(answer).toMatchObject({
      deferred: true,
      question: { text: "?", problem: expect.stringMatching(problem) },
    });
  });

  test("keeps its expiry over a wrong answer and then says so", async () => {
    await using bench = await Bench.make();
    const tool = bench.bind(bindHuman, { op: "ask", choices: ["yes"], expires: 60 });
    const first = await bench.call(tool, { question: "?" });
    const { handle } = first as { handle: Json };
    bench.now += 59_000;
    const again = await bench.call(tool, { question: "?" }, { handle, input: "no" });
    expect(again).toMatchObject({ handle, until: bench.now + 1000 });
    bench.now += 1000;
    expect(codeOf(await bench.call(tool, { question: "?" }, { handle }))).toBe("expired");
    expect(codeOf(await bench.call(tool, { question: "?" }, { handle, input: "no" }))).toBe("expired");
  });

  test("refuses what is no question, and options that mean nothing", async () => {
    await using bench = await Bench.make();
    const tool = bench.bind(bindHuman, { op: "ask" });
    for (const args of [
      {},
      { question: 3 },
      { question: "x".repeat(20_000) },
      { question: "?", choices: [] },
    ])
      expect(codeOf(await bench.call(tool, args as JsonObject))).toMatch(/bad_arguments|too_large/);
    const problems = (options: JsonObject) => problemsOf(bindHuman, options, bench.around);
    expect(problems({ op: "ask", expires: "soon" })).toHaveLength(1);
    expect(problems({ op: "ask", expires: "2000d" })).toHaveLength(1);
    expect(problems({ op: "ask", chioces: ["a"] })).toHaveLength(1);
  });
});

// ---- through the engine ---------------------------------------------------------------------------------------

const pack = `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go., tools: [ask, rest] }
`;

/** Time that stands still until it is moved; sleepers wake when their time has come. */
class HandClock implements Clock {
  #now = Date.UTC(2030, 0, 1);
  readonly #sleepers = new Set<{ readonly due: number; readonly wake: () => void }>();

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = { due: this.#now + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal.addEventListener("abort", () => {
        this.#sleepers.delete(sleeper);
        resolve();
      });
    });
  }

  move(ms: number): void {
    this.#now += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.due > this.#now) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}

interface Stage {
  readonly clock: HandClock;
  readonly disk: MemoryDisk;
  readonly engine: Engine;
}

async function stage(
  bench: Bench,
  call: { readonly tool: string; readonly args: JsonObject },
): Promise<Stage> {
  const clock = new HandClock();
  const disk = new MemoryDisk();
  const engine = engineOn(bench, { clock, disk, call });
  const opened = openPack(pack, { file: "p.yaml" });
  if (!opened.ok) throw opened.toError();
  const { program, digest } = opened;
  const input = { mode: "autonomous" as const, variables: {}, input: "" };
  await engine.start({ id: "r", program, digest, source: pack, setup: {}, input });
  await until(engine, (run) => run.open[2]?.hold === "deferred");
  return { clock, disk, engine };
}

function engineOn(
  bench: Bench,
  { clock, disk, call }: { clock: Clock; disk: MemoryDisk; call: { tool: string; args: JsonObject } },
): Engine {
  const other = { ...bench.around, clock };
  const reader = (options: JsonObject) => bench.reader(options);
  const tools = new Map([
    ["ask", bindHuman(reader({ op: "ask", choices: ["yes", "no"], expires: "1d" }), other)],
    ["rest", bindTime(reader({ op: "sleep" }), other)],
  ]);
  const none = { knows: () => false, isSafe: () => false, call: () => Promise.reject(new Error("unbound")) };
  const say = (said: Partial<ModelReply>): ModelReply => ({
    text: "",
    calls: [],
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    ...said,
  });
  return new Engine({
    store: memoryStore(disk),
    clock,
    portsOf: async () => ({
      model: {
        call: async (request, { nth }) =>
          nth === 0
            ? say({ calls: [{ id: "1", ...call }] })
            : say({ text: JSON.stringify(request.messages.at(-1)) }),
      },
      tools: toolPort(tools, none),
    }),
  });
}

const ask = { tool: "ask", args: { question: "Ship?" } };
const answer = (engine: Engine, value: Json) =>
  engine.submit("r", { type: "answer", at: 0, step: 2, outcome: { ok: true, value }, by: "ada" });

describe("through the engine", () => {
  test("a run with an open question waits, however long it may take", async () => {
    await using bench = await Bench.make();
    const { engine } = await stage(bench, ask);
    await using _engine = engine;
    const run = await engine.settled("r");
    expect(statusOf(run)).toBe("waiting");
    expect(run.open[2]?.later?.question).toEqual({ text: "Ship?", choices: ["yes", "no"] });
  });

  test("a wrong answer asks again, a right one goes on, and the expiry goes with the question", async () => {
    await using bench = await Bench.make();
    const { engine } = await stage(bench, ask);
    await using _engine = engine;
    await answer(engine, "maybe");
    const again = await engine.settled("r");
    expect(again.open[2]?.later?.question).toMatchObject({ problem: expect.stringContaining("`maybe`") });
    expect(statusOf(again)).toBe("waiting");
    await answer(engine, "YES");
    const run = await engine.settled("r");
    expect(run).toMatchObject({ final: "completed", open: {} });
    expect(run.lastText).toContain("yes");
  });

  test("nobody answers: the call ends with `expired` and the model goes on", async () => {
    await using bench = await Bench.make();
    const { engine, clock } = await stage(bench, ask);
    await using _engine = engine;
    clock.move(day);
    const run = await ended(engine);
    expect(run.final).toBe("completed");
    expect(run.lastText).toContain("expired");
  });

  test("a question and its expiry survive the end of the process", async () => {
    await using bench = await Bench.make();
    const { engine, clock, disk } = await stage(bench, ask);
    await engine[Symbol.asyncDispose]();
    await using second = engineOn(bench, { clock, disk, call: ask });
    await second.resume("r");
    expect(statusOf(await second.settled("r"))).toBe("waiting");
    clock.move(day);
    expect((await ended(second)).lastText).toContain("expired");
  });

  test("a sleep ends at its time, also when the process did not live through it", async () => {
    await using bench = await Bench.make();
    const sleep = { tool: "rest", args: { seconds: 3600 } };
    const { engine, clock, disk } = await stage(bench, sleep);
    clock.move(3_599_000);
    await engine[Symbol.asyncDispose]();
    await using second = engineOn(bench, { clock, disk, call: sleep });
    clock.move(1_000_000);
    await second.resume("r");
    const run = await ended(second);
    expect(run.lastText).toContain("4599");
  });
});

const ended = (engine: Engine): Promise<Run> => until(engine, (run) => run.final !== null);

/** The run once it is so; a hang ends with the test. */
async function until(engine: Engine, isSo: (run: Run) => boolean): Promise<Run> {
  for (;;) {
    const stored = await engine.store.load("r");
    const run = stored && fold(stored.rows, stored.snapshot);
    if (run !== undefined && isSo(run)) return run;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
