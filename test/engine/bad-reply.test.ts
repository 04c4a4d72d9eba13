// A port for a model is anybody's code: an answer that is none ends the run with a reason instead of hanging it.

import { expect, test } from "vitest";
import type { ModelReply } from "../../src/core/facts.ts";
import { createEngine } from "../../src/library/packloop.ts";
import { openPack } from "../../src/pack/pack.ts";

const pack = `id: p
name: P
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  one: { id: one, name: One, version: 1.0.0, system_template: Work. }
workflow:
  version: 2
  entry: end
  states:
    end: { prompt_task: one, terminal: true }
`;

const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0 };

test.each([
  ["nothing", undefined],
  ["no text", { calls: [], usage }],
  ["a call without a tool", { text: "", calls: [{ id: "1" }], usage }],
  ["no cost", { text: "", calls: [], usage: { inputTokens: 1, outputTokens: 1 } }],
  ["tokens that are no number", { text: "", calls: [], usage: { ...usage, inputTokens: Number.NaN } }],
  ["a cost below nothing", { text: "", calls: [], usage: { ...usage, costUsd: -1 } }],
])("%s", async (_what, reply) => {
  const opened = openPack(pack, { file: "p.pack.yaml" });
  if (!opened.ok) throw opened.toError();
  let calls = 0;
  const model = {
    call: async () => {
      calls += 1;
      return reply as unknown as ModelReply;
    },
  };
  await using engine = await createEngine({ model });
  const run = await engine.start(opened.program, {});
  expect(await run.result()).toMatchObject({ status: "failed", reason: { code: "bad_reply" } });
  expect(calls).toBe(1);
});
