// S13, S43, G10 on a real store: whoever spends for a run at the same time, all of them together stay within
// its limit, and what one does not use is there for the others.

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Limits, ModelReply } from "../../src/core/facts.ts";
import type { CallContext } from "../../src/engine/ports.ts";
import { createEngine, type LoopEngine } from "../../src/library/packloop.ts";
import { sqliteStore } from "../../src/library/sqlite.ts";
import { openPack } from "../../src/pack/pack.ts";

const prompt = (id: string, tools: string) =>
  `  ${id}: { id: ${id}, name: P, version: 1.0.0, system_template: Go., tools: [${tools}], tool_policy: { max_rounds: 9 } }\n`;

const program = (lead: string) => {
  const text = `id: sharing
name: Sharing
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
${prompt("lead", "scout, clerk")}${prompt("scout", "clerk")}${prompt("clerk", "")}agents: { entry: lead, members: { lead: {}, scout: {}, clerk: {} } }
compositions:
  pair:
    version: 1
    steps:
      - id: all
        kind: parallel
        reduce: { strategy: append, into: all }
        branches:
          - { id: a, kind: agent, prompt_task: lead, termination: { max_steps: 6 } }
          - { id: b, kind: agent, prompt_task: lead, termination: { max_steps: 6 } }
  mixed:
    version: 1
    steps:
      - id: all
        kind: parallel
        reduce: { strategy: append, into: all }
        branches:
          - { id: a, kind: tool, tool: scout, args: { query: it } }
          - { id: b, kind: prompt, prompt_task: clerk }
workflow:
  version: 2
  entry: work
  states:
    work: ${lead}
    end: { prompt_task: clerk, terminal: true }
`;
  const pack = openPack(text, { file: "sharing.pack.yaml" });
  if (!pack.ok) throw pack.toError();
  return pack.program;
};

const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.01 };
const says = (text: string): ModelReply => ({ text, calls: [], usage });
const calls = ({ step }: CallContext, ...tools: readonly string[]): ModelReply => ({
  text: "",
  calls: tools.map((tool, index) => ({ id: `${step}.${index}`, tool, args: { query: "it" } })),
  usage,
});

type Answer = (context: CallContext) => ModelReply | Promise<ModelReply>;

const folder = mkdtempSync(join(tmpdir(), "packloop-sharing-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** An engine on a file, and every call that its models got. */
async function engineWith(answer: Answer, path = join(folder, `${++files}.db`)) {
  const made: string[] = [];
  const engine = await createEngine({
    store: sqliteStore(path),
    model: {
      call: async (_request, context) => {
        made.push(`${context.run} ${context.prompt}`);
        return answer(context);
      },
    },
  });
  return { engine, made, path };
}

async function ended(engine: LoopEngine, lead: string, limits: Partial<Limits>) {
  const run = await engine.start(program(lead), { limits });
  return { run, summary: await run.result() };
}

/** Somebody who works as long as there is something to work with. */
const greedy: Answer = (context) => {
  if (context.prompt === "clerk") return says("noted");
  return calls(context, ...(context.prompt === "lead" ? ["scout", "clerk", "scout"] : ["clerk", "clerk"]));
};

const total = ({ used, used_by_agents: below }: Awaited<ReturnType<typeof ended>>["summary"]): number =>
  used.model_calls + (below?.model_calls ?? 0);

const shapes: readonly (readonly [string, string])[] = [
  ["agents of one round, with agents of their own", "{ prompt_task: lead, terminal: true }"],
  ["two steps that call agents", "{ orchestration: composition, composition: pair, terminal: true }"],
  ["an agent and a prompt", "{ orchestration: composition, composition: mixed, terminal: true }"],
];

describe("together, however greedy,", () => {
  test.for(shapes)("%s make no more model calls than the run may", async ([, lead]) => {
    const { engine, made } = await engineWith(greedy);
    await using _engine = engine;
    for (const modelCalls of [1, 2, 3, 5, 8, 13]) {
      const { run, summary } = await ended(engine, lead, { modelCalls });
      const own = made.filter((call) => call.startsWith(run.id));
      expect(total(summary), `of ${modelCalls}`).toBeLessThanOrEqual(modelCalls);
      expect(own.length, "all of them are on the bill").toBeLessThanOrEqual(total(summary));
      if (summary.status === "budget_exhausted")
        expect(summary.reason).toMatchObject({ limit: "max_model_calls", value: modelCalls });
    }
  });
});

test("what an agent does not use is there for the next one", async () => {
  const { engine } = await engineWith((context) => {
    if (context.prompt !== "lead") return says("noted");
    return context.nth < 2 ? calls(context, "scout", "clerk") : says("done");
  });
  await using _engine = engine;
  const { run, summary } = await ended(engine, "{ prompt_task: lead, terminal: true }", { modelCalls: 12 });
  expect(summary).toMatchObject({ status: "completed", used_by_agents: { model_calls: 4 } });
  const given = async (step: number) =>
    (await engine.run(`${run.id}/${step}`).summary()).limits["max_model_calls"];
  expect(await Promise.all([2, 3, 5, 6].map(given))).toEqual([5, 6, 4, 4]);
});

describe("an agent that is given up", () => {
  const lead = "{ prompt_task: lead, orchestration: hybrid, on_event: { End: end } }";

  /** The scout makes one call, whose agent never answers. */
  const slow = (released: Promise<void>): Answer => {
    return async (context) => {
      if (context.prompt === "lead") return calls(context, "scout");
      if (context.prompt === "scout") return calls(context, "clerk");
      if (context.run.split("/").length === 3) await released;
      return says("noted");
    };
  };

  async function deepIn(limits: Partial<Limits>) {
    const released = Promise.withResolvers<void>();
    const { engine, made } = await engineWith(slow(released.promise));
    const run = await engine.start(program(lead), { limits });
    await expect.poll(() => made.length, { timeout: 30_000 }).toBe(3);
    return { engine, made, run, released };
  }

  test("is on the bill with all that was called for it, and the run goes on with the rest", async () => {
    const { engine, made, run, released } = await deepIn({ modelCalls: 4 });
    await using _engine = engine;
    await run.send("End", { by: "ann" });
    released.resolve();
    const summary = await run.result();
    expect(summary).toMatchObject({
      status: "completed",
      used: { model_calls: 2 },
      used_by_agents: { model_calls: 2 },
    });
    expect(made).toHaveLength(4);
  });

  test("leaves nothing where it has used everything", async () => {
    const { engine, made, run, released } = await deepIn({ modelCalls: 3 });
    await using _engine = engine;
    await run.send("End", { by: "ann" });
    released.resolve();
    expect(await run.result()).toMatchObject({
      status: "budget_exhausted",
      reason: { limit: "max_model_calls", value: 3, state: "end" },
      used_by_agents: { model_calls: 2 },
    });
    expect(made).toHaveLength(3);
  });

  test("by its own end is an error for its caller, with the bill of all under it", async () => {
    const { engine, run, released } = await deepIn({ modelCalls: 4 });
    await using _engine = engine;
    await engine.run(`${run.id}/3`).cancel({ by: "ann" });
    released.resolve();
    const facts = [];
    for await (const row of run.follow()) facts.push(...row.facts);
    expect(facts).toContainEqual({
      type: "answered",
      step: 3,
      outcome: { ok: false, code: "cancelled", message: "cancelled by ann" },
      spent: expect.objectContaining({ modelCalls: 2 }),
    });
  });
});

test("a process that leaves between a grant and its answer changes nothing of either", async () => {
  const lead = "{ orchestration: composition, composition: pair, terminal: true }";
  const first = await engineWith(async (context) => {
    if (context.prompt !== "lead") await once(context.signal, "abort");
    return calls(context, "scout");
  });
  const run = await first.engine.start(program(lead), { limits: { modelCalls: 8 } });
  await expect.poll(() => first.made.length, { timeout: 30_000 }).toBe(4);
  await first.engine.close(0);
  const second = await engineWith((context) => {
    if (context.prompt !== "lead") return says("noted");
    return calls(context, "clerk", "scout");
  }, first.path);
  await using engine = second.engine;
  const resumed = await engine.resume(run.id);
  const summary = await resumed.result();
  expect(summary).toMatchObject({ status: "budget_exhausted", reason: { limit: "max_model_calls" } });
  // Two of the first process were never answered, and are made again under the same key.
  const keys = new Set([...first.made, ...second.made]).size;
  expect(total(summary)).toBeLessThanOrEqual(8);
  expect(keys).toBeLessThanOrEqual(8);
  for (const { run: child } of summary.children.slice(0, 2))
    expect((await engine.run(child).summary()).limits).toMatchObject({ max_model_calls: 3 });
});
