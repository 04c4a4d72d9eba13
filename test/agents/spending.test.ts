// S13, S43: what agents spend is spent for their caller; visits and calls are each run's own; depth is bounded.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Limits } from "../../src/core/facts.ts";
import { createEngine, type LoopEngine } from "../../src/library/packloop.ts";
import { openPack } from "../../src/pack/pack.ts";
import { tree } from "./tree-pack.ts";

function program(text = tree) {
  const pack = openPack(text, { file: "tree.pack.yaml" });
  if (!pack.ok) throw pack.toError();
  return pack.program;
}

const ask = (...tools: string[]) => ({ calls: tools.map((tool) => ({ tool, args: { query: "it" } })) });
const usage = { input_tokens: 100, output_tokens: 10, cost_usd: 0.1 };
const dear = (entry: JsonObject) => ({ ...entry, usage });

const engineWith = (states: JsonObject): Promise<LoopEngine> =>
  createEngine({
    model: {
      script: {
        states: { report: [dear({ text: "reported" })], verdict: [dear({ text: "judged" })], ...states },
        prompts: { clerk: [dear({ text: "noted" })] },
      },
    },
  });

async function ended(engine: LoopEngine, limits: Partial<Limits>) {
  const run = await engine.start(program(), { limits });
  return { run, summary: await run.result() };
}

/** One call of the lead, the auditor's two, one more of the lead, one for the report. */
const states = {
  lead: [dear(ask("auditor")), dear({ event: "Done" })],
  look: [dear({ event: "Found" })],
};

describe("an agent's spending", () => {
  test("is its caller's, and shown beside the caller's own", async () => {
    await using engine = await engineWith(states);
    const { summary } = await ended(engine, {});
    expect(summary.used).toMatchObject({ model_calls: 3, input_tokens: 300 });
    expect(summary.used_by_agents).toMatchObject({ model_calls: 2, input_tokens: 200, output_tokens: 20 });
    expect(summary.used_by_agents?.cost_usd).toBeCloseTo(0.2);
  });

  test.each<readonly [string, Partial<Limits>, string]>([
    ["model calls", { modelCalls: 4 }, "max_model_calls"],
    ["tokens in", { inputTokens: 400 }, "max_input_tokens"],
    ["tokens out", { outputTokens: 40 }, "max_output_tokens"],
    ["cost", { costUsd: 0.45 }, "max_cost_usd"],
  ])("counts against the caller's limit: %s", async (_what, limits, limit) => {
    await using engine = await engineWith(states);
    const { summary } = await ended(engine, limits);
    expect(summary).toMatchObject({
      status: "budget_exhausted",
      reason: { limit, state: "report" },
      used: { model_calls: 2 },
      used_by_agents: { model_calls: 2 },
    });
  });

  test("is never more than its caller has left", async () => {
    const look = [dear({ event: "Again" }), dear({ event: "Again" }), dear({ event: "Again" })];
    await using engine = await engineWith({ ...states, look });
    const { run, summary } = await ended(engine, { modelCalls: 3 });
    const child = await engine.run(`${run.id}/2`).summary();
    expect(child).toMatchObject({
      status: "budget_exhausted",
      reason: { limit: "max_model_calls", value: 2 },
      limits: { max_model_calls: 2 },
    });
    expect(summary).toMatchObject({
      status: "budget_exhausted",
      reason: { limit: "max_model_calls", value: 3 },
    });
    expect(summary.used.model_calls + (summary.used_by_agents?.model_calls ?? 0)).toBe(3);
  });

  test("of several at once is shared out before it is spent", async () => {
    const look = [dear({ event: "Again" })];
    await using engine = await engineWith({ lead: [dear(ask("auditor", "auditor")), dear({})], look });
    const { run, summary } = await ended(engine, { modelCalls: 5 });
    for (const step of [2, 3])
      expect(await engine.run(`${run.id}/${step}`).summary()).toMatchObject({
        limits: { max_model_calls: 2 },
      });
    expect(summary.used.model_calls + (summary.used_by_agents?.model_calls ?? 0)).toBeLessThanOrEqual(5);
  });

  test("reaches through agents of agents", async () => {
    const look = [dear(ask("clerk")), dear({ event: "Found" })];
    await using engine = await engineWith({ ...states, look });
    const { summary } = await ended(engine, {});
    // Two looks, the clerk, the verdict.
    expect(summary.used_by_agents).toMatchObject({ model_calls: 4, tool_calls: 1, visits: 2 });
  });

  test("does not begin where nothing is left: the caller hears so and goes on to its own end", async () => {
    await using engine = await engineWith(states);
    const { run, summary } = await ended(engine, { inputTokens: 100 });
    expect(summary).toMatchObject({ status: "budget_exhausted", reason: { limit: "max_input_tokens" } });
    await expect(engine.run(`${run.id}/2`).summary()).rejects.toMatchObject({ code: "unknown-run" });
    const answers = [];
    for await (const { facts } of run.follow())
      for (const fact of facts) if (fact.type === "answered" && fact.step === 2) answers.push(fact.outcome);
    expect(answers).toMatchObject([{ ok: false, code: "max_input_tokens" }]);
  });
});

describe("visits, calls and time", () => {
  test("visits and calls are counted anew in every agent's run, up to its caller's limits", async () => {
    const look = [dear({ event: "Again" }), dear(ask("clerk")), dear({ event: "Found" })];
    await using engine = await engineWith({ ...states, look });
    const { run, summary } = await ended(engine, { visits: 3, toolCalls: 1 });
    expect(summary).toMatchObject({ status: "completed", used: { visits: 2, tool_calls: 1 } });
    expect(await engine.run(`${run.id}/2`).summary()).toMatchObject({
      status: "completed",
      used: { visits: 3, tool_calls: 1 },
      limits: { max_total_visits: 3, max_tool_calls: 1 },
    });
  });

  test("an agent has no more time than its caller has left", async () => {
    await using engine = await engineWith(states);
    const { summary } = await ended(engine, { wallMs: 60_000 });
    const { limits } = await engine.run(summary.children[0]?.run ?? "").summary();
    expect(limits["max_wall_time_sec"]).toBeLessThanOrEqual(60);
    expect(limits["max_wall_time_sec"]).toBeGreaterThan(50);
  });
});

describe("recursion", () => {
  const bomb = { lead: [ask("auditor"), { event: "Done" }], look: [ask("auditor"), { event: "Found" }] };

  test("ends eight deep with an error that names the calls, and the caller completes", async () => {
    await using engine = await engineWith(bomb);
    const run = await engine.start(program());
    expect(await run.result()).toMatchObject({ status: "completed" });
    const deepest = engine.run(`${run.id}${"/2".repeat(8)}`);
    expect(await deepest.summary()).toMatchObject({ status: "completed" });
    const answered = [];
    for await (const { facts } of deepest.follow())
      for (const fact of facts) if (fact.type === "answered" && fact.step === 2) answered.push(fact.outcome);
    const chain = Array.from({ length: 9 }, () => "auditor").join(" → ");
    expect(answered).toEqual([
      { ok: false, code: "too_deep", message: `agents may call each other 8 deep (${chain})` },
    ]);
  });

  test("stays within the caller's budget", async () => {
    await using engine = await engineWith(bomb);
    const run = await engine.start(program(), { limits: { modelCalls: 6 } });
    const { used, used_by_agents: below } = await run.result();
    expect(used.model_calls + (below?.model_calls ?? 0)).toBeLessThanOrEqual(6);
  });

  test("is named by the check: agents that call each other, and one that calls itself", () => {
    const pack = openPack(tree, { file: "tree.pack.yaml" });
    const codes = pack.diagnostics.map(({ code }) => code);
    expect(codes).toContain("PP208");
    const mutual = tree.replace("system_template: Note. }", "system_template: Note., tools: [auditor] }");
    expect(openPack(mutual, { file: "t.yaml" }).diagnostics.map(({ code }) => code)).toContain("PP705");
  });
});
