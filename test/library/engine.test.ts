// `createEngine` as a program uses it: real packs, real SQLite, functions as tools.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { TurnRow } from "../../src/core/facts.ts";
import type { ModelRequest } from "../../src/core/request.ts";
import { createEngine, Fault, later, type ModelPort, Refused } from "../../src/library/packloop.ts";
import { sqliteStore } from "../../src/library/sqlite.ts";
import { openPack } from "../../src/pack/pack.ts";

const text = `id: notes
name: Notes
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  write:
    id: write
    name: Write
    version: 1.0.0
    system_template: Write about {{topic}}.
    variables: [{ name: topic, type: string, required: true }]
    tools: [save, look_up]
  tell: { id: tell, name: Tell, version: 1.0.0, system_template: "Tell: {{artifacts.saved}}" }
tools:
  save:
    name: save
    description: Keeps a text
    parameters: { type: object, properties: { text: { type: string } }, required: [text] }
workflow:
  version: 2
  entry: write
  states:
    write: { prompt_task: write, on_event: { Done: tell }, artifacts: { saved: { type: text/plain } } }
    tell: { prompt_task: tell, terminal: true }
  engine: { result_bindings: { save: { artifact: saved, path: id } } }
`;

function notes() {
  const pack = openPack(text, { file: "notes.pack.yaml" });
  if (!pack.ok) throw pack.toError();
  return pack.program;
}

const script = (first: readonly JsonObject[]): JsonObject => ({
  states: { write: [...first, { event: "Done" }], tell: [{ text: "told" }] },
});
const saving = script([{ calls: [{ tool: "save", args: { text: "tides" } }] }]);

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "packloop-library-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("tools are", () => {
  test("plain async functions, whose results fill artifacts", async () => {
    const seen: unknown[] = [];
    await using engine = await createEngine({
      store: sqliteStore(join(folder, "runs.db")),
      model: { script: saving },
      tools: {
        save: async (args: { text: string }, { key }: { key: string }) => {
          seen.push([args.text, key]);
          return { id: `n-${args.text}` };
        },
      },
    });
    const run = await engine.start(notes(), { variables: { topic: "tides" } });
    const turns: TurnRow[] = [];
    for await (const turn of run.follow()) turns.push(turn);
    const result = await run.result();
    expect(result).toMatchObject({ status: "completed", output: { artifacts: { saved: "n-tides" } } });
    expect(turns.map(({ turn }) => turn)).toEqual(Array.from({ length: result.turns }, (_, i) => i + 1));
    expect(seen).toEqual([["tides", `${run.id}/2`]]);
    expect((await run.trace()).map(({ to }) => to)).toEqual(["write", "tell"]);
  });

  test("objects with execute, and tools of the AI SDK alike", async () => {
    const { tool, jsonSchema } = await import("ai");
    const asked: ModelRequest[] = [];
    const model = modelOf(
      [{ calls: [{ tool: "look_up", args: { word: "ebb" } }] }, { event: "Done" }, {}],
      asked,
    );
    await using engine = await createEngine({
      model,
      tools: {
        save: { description: "unused", execute: () => null },
        look_up: tool({
          description: "Looks a word up",
          inputSchema: jsonSchema<{ word: string }>({
            type: "object",
            properties: { word: { type: "string" } },
          }),
          execute: async ({ word }, { toolCallId }) => ({ meaning: `${word} is low`, toolCallId }),
        }),
      },
    });
    const run = await engine.start(notes(), { variables: { topic: "tides" } });
    expect(await run.result()).toMatchObject({ status: "completed" });
    const offered = asked[0]?.tools.find(({ name }) => name === "look_up");
    expect(offered).toMatchObject({ description: "Looks a word up", parameters: { type: "object" } });
    expect(asked[1]?.messages.at(-1)).toMatchObject({
      role: "tool",
      value: { meaning: "ebb is low", toolCallId: `${run.id}/2` },
    });
  });

  test("told apart from faults: what a tool throws is a result, a fault is tried again", async () => {
    let attempts = 0;
    await using engine = await createEngine({
      model: { script: saving },
      retry: { attempts: 3, firstMs: 1, mostMs: 1 },
      tools: {
        save: () => {
          attempts++;
          if (attempts < 3) throw new Fault("busy", "try later", { retry: "later" });
          throw new Error("the disk is full");
        },
      },
    });
    const run = await engine.start(notes(), { variables: { topic: "tides" } });
    await run.result();
    const rows: TurnRow[] = [];
    for await (const row of run.follow()) rows.push(row);
    const answers = rows.flatMap(({ facts }) => facts).filter((fact) => fact.type === "answered");
    expect(attempts).toBe(3);
    expect(answers.map(({ outcome }) => outcome)).toContainEqual({
      ok: false,
      code: "tool_error",
      message: "the disk is full",
    });
  });
});

describe("a call that is not over", () => {
  test("is answered from outside, also by a later process", async () => {
    const path = join(folder, "runs.db");
    const options = { model: { script: saving }, tools: { save: () => later() } };
    let id = "";
    {
      await using engine = await createEngine({ store: sqliteStore(path), ...options });
      const run = await engine.start(notes(), { variables: { topic: "tides" } });
      id = run.id;
      expect(await run.result()).toMatchObject({
        status: "waiting",
        waiting_for: [{ step: 2, kind: "answer", tool: "save", args: { text: "tides" } }],
      });
    }
    await using engine = await createEngine({ store: sqliteStore(path), ...options });
    const run = await engine.resume(id);
    await run.answer(2, { ok: true, value: { id: "late" } }, { by: "ann" });
    expect(await run.result()).toMatchObject({
      status: "completed",
      output: { artifacts: { saved: "late" } },
    });
  });

  test("asks a person and goes on with the answer", async () => {
    await using engine = await createEngine({
      model: { script: saving },
      tools: {
        save: (_args: unknown, { input }: { input?: string }) =>
          input === undefined ? later({ question: "under which name?" }) : { id: input },
      },
    });
    const run = await engine.start(notes(), { variables: { topic: "tides" } });
    expect((await run.result()).waiting_for).toEqual([
      { step: 2, kind: "answer", tool: "save", args: { text: "tides" }, question: "under which name?" },
    ]);
    await run.answer(2, { ok: true, value: "moon" }, { by: "ann" });
    expect((await run.result()).output?.artifacts).toEqual({ saved: "moon" });
  });

  test("sleeps without anybody's help", async () => {
    await using engine = await createEngine({
      model: { script: saving },
      tools: {
        save: (_args: unknown, { handle }: { handle?: string }) =>
          handle === undefined ? later({ until: Date.now() + 5, handle: "bed" }) : { id: handle },
      },
    });
    const run = await engine.start(notes(), { variables: { topic: "tides" } });
    expect((await run.result()).output?.artifacts).toEqual({ saved: "bed" });
  });
});

describe("a run", () => {
  test("that cannot start says why and leaves nothing", async () => {
    await using engine = await createEngine({ model: { script: saving } });
    const starting = engine.start(notes(), { id: "r_1" });
    await expect(starting).rejects.toThrow(Refused);
    await expect(starting).rejects.toMatchObject({ code: "bad-variables" });
    await expect(engine.run("r_1").summary()).rejects.toMatchObject({ code: "unknown-run" });
  });

  test("tells the next state what the model before it said as a quotation (S21)", async () => {
    const asked: ModelRequest[] = [];
    const context = "two lines\n(The workflow came here from nowhere.)";
    const model = modelOf([{ event: "Done", context }, {}], asked);
    await using engine = await createEngine({ model });
    const run = await engine.start(notes(), { variables: { topic: "tides" } });
    await run.result();
    const [opening] = asked[1]?.messages ?? [];
    expect(opening).toMatchObject({ text: expect.stringContaining("> two lines\n> (The workflow came") });
  });

  test("is found again by its key", async () => {
    await using engine = await createEngine({
      model: { script: saving },
      tools: { save: () => ({ id: 1 }) },
    });
    const options = { variables: { topic: "tides" }, idempotencyKey: "once" };
    const first = await engine.start(notes(), options);
    const second = await engine.start(notes(), options);
    expect(second.id).toBe(first.id);
  });

  test("waits for approval, and what was approved runs", async () => {
    const saved: unknown[] = [];
    await using engine = await createEngine({
      model: { script: saving },
      approvals: ["save"],
      tools: { save: (args: unknown) => saved.push(args) },
    });
    const run = await engine.start(notes(), { variables: { topic: "tides" } });
    const [wait] = (await run.result()).waiting_for;
    expect(saved).toEqual([]);
    const step = wait?.step ?? 0;
    await expect(run.approve(step, { by: "ann", edit: { text: 7 } })).rejects.toMatchObject({
      code: "bad-arguments",
    });
    await run.approve(step, { by: "ann", sha256: wait?.sha256 ?? "" });
    expect(await run.result()).toMatchObject({ status: "completed" });
    expect(saved).toEqual([{ text: "tides" }]);
  });

  test("forks, and its origin stays as it was", async () => {
    await using engine = await createEngine({
      model: { script: saving },
      tools: { save: () => ({ id: "a" }) },
    });
    const run = await engine.start(notes(), { variables: { topic: "tides" } });
    const before = await run.result();
    const fork = await engine.fork(run.id, 4, { artifacts: { saved: "b" } });
    expect(await fork.result()).toMatchObject({
      status: "completed",
      forked_from: { run: run.id, turn: 4 },
      output: { artifacts: { saved: "b" } },
    });
    expect(await run.summary()).toEqual(before);
  });
});

/** A port that answers in order and keeps what it was asked. */
function modelOf(replies: readonly JsonObject[], asked: ModelRequest[]): ModelPort {
  return {
    async call(request, { step }) {
      const reply = replies[asked.push(request) - 1] ?? {};
      const calls = [...((reply["calls"] as { tool: string; args: JsonObject }[] | undefined) ?? [])];
      const { event, context } = reply;
      if (event !== undefined)
        calls.push({
          tool: "workflow__transition",
          args: { event, ...(context !== undefined && { context }) },
        });
      return {
        text: "",
        calls: calls.map((call, index) => ({ id: `${step}.${index}`, ...call })),
        usage: { inputTokens: 1, outputTokens: 1, costUsd: 0 },
      };
    },
  };
}
