// Validators at work in real runs: what a model says, or is told, is judged before anybody sees it.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createEngine } from "../../src/library/packloop.ts";
import { openPack } from "../../src/pack/pack.ts";

function packWith(validators: readonly JsonObject[], workflow: JsonObject | null = null) {
  const pack = openPack(
    JSON.stringify({
      id: "guarded",
      name: "Guarded",
      version: "1.0.0",
      template_engine: { version: "v1", syntax: "{{variable}}" },
      prompts: {
        p: { id: "p", name: "P", version: "1.0.0", system_template: "Talk.", tools: ["look"], validators },
      },
      tools: { look: { name: "look", description: "Looks" } },
      ...(workflow !== null && { workflow }),
    }),
    { file: "guarded.pack.json" },
  );
  if (!pack.ok) throw pack.toError();
  return pack.program;
}

async function outcome(validators: readonly JsonObject[], replies: readonly JsonObject[], input = "hello") {
  await using engine = await createEngine({
    model: { script: { prompts: { p: replies } } },
    tools: { look: () => "seen" },
  });
  const run = await engine.start(packWith(validators), { input });
  const { output, used, status } = await run.result();
  return { status, text: output?.text, modelCalls: used.model_calls };
}

describe("an answer", () => {
  test("that breaks a rule is replaced by the validator's message", async () => {
    const banned = { type: "banned_words", message: "I cannot say that.", params: { words: ["darn"] } };
    expect(await outcome([banned], [{ text: "Well, darn it." }])).toMatchObject({
      status: "completed",
      text: "I cannot say that.",
    });
  });

  test("that is too long is shortened, and the next validator sees what is left", async () => {
    const validators = [
      { type: "max_length", params: { max_characters: 4 } },
      { type: "banned_words", message: "no", params: { words: ["darn"] } },
    ];
    expect((await outcome(validators, [{ text: "Oh, darn" }])).text).toBe("Oh, ");
  });

  test("must satisfy demands only when it is the last word of a visit", async () => {
    const json = { type: "json_valid", message: "not JSON" };
    const remark = { text: "let me look", calls: [{ tool: "look" }] };
    expect(await outcome([json], [remark, { text: "[1]" }])).toMatchObject({ text: "[1]", modelCalls: 2 });
    expect((await outcome([json], [remark, { text: "done" }])).text).toBe("not JSON");
  });

  test("passes when the validator is switched off or looks the other way", async () => {
    const off = { type: "banned_words", enabled: false, params: { words: ["darn"] } };
    const input = { type: "banned_words", params: { words: ["darn"], direction: "input" } };
    expect((await outcome([off, input], [{ text: "darn" }])).text).toBe("darn");
  });

  test("names an event only in what is left of it", async () => {
    const workflow: JsonObject = {
      version: 2,
      entry: "talk",
      states: {
        talk: { prompt_task: "p", on_event: { Done: "end" } },
        end: { prompt_task: "p", terminal: true },
      },
      engine: { nudges: 0 },
    };
    await using engine = await createEngine({
      model: { script: { states: { talk: [{ text: "darn\nDone" }], end: [{ text: "bye" }] } } },
    });
    const guard = { type: "banned_words", message: "withheld", params: { words: ["darn"] } };
    const run = await engine.start(packWith([guard], workflow));
    expect(await run.result()).toMatchObject({ status: "waiting", state: "talk" });
  });
});

describe("an input", () => {
  const guard = { type: "banned_words", message: "not here", params: { words: ["darn"], direction: "both" } };

  test("that breaks a rule never reaches the model", async () => {
    expect(await outcome([guard], [{ text: "hi" }], "darn you")).toEqual({
      status: "completed",
      text: "not here",
      modelCalls: 0,
    });
  });

  test("is let through when it is fine", async () => {
    expect(await outcome([guard], [{ text: "hi" }], "good day")).toMatchObject({ text: "hi", modelCalls: 1 });
  });
});

test("a run that needs a judge packloop lacks is refused", async () => {
  await using engine = await createEngine({ model: { script: { prompts: { p: [{ text: "hi" }] } } } });
  await expect(engine.start(packWith([{ type: "toxicity" }]))).rejects.toMatchObject({ code: "unsupported" });
});

test("a journal with validators is decided again to the same facts", async () => {
  const { replayTurn } = await import("../../src/core/replay.ts");
  const { applyTurn } = await import("../../src/core/apply.ts");
  const { emptyRun } = await import("../../src/core/run.ts");
  const program = packWith([{ type: "max_length", params: { max: 2 } }]);
  await using engine = await createEngine({ model: { script: { prompts: { p: [{ text: "long" }] } } } });
  const started = await engine.start(program);
  await started.result();
  let run = emptyRun;
  for await (const row of started.follow()) {
    expect(replayTurn(program, run, row)).toBeUndefined();
    run = applyTurn(run, row);
  }
  expect(run.lastText).toBe("lo");
});
