// The codegen example over every wire protocol, streamed, with a provider that fails on the way: the trace is
// the one of the scripted model.

import { readFileSync } from "node:fs";
import { LLMock } from "@copilotkit/aimock";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readScript } from "../../../src/adapter/script/read-script.ts";
import { scriptedModel } from "../../../src/adapter/script/scripted.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { ModelReply } from "../../../src/core/facts.ts";
import type { ModelPort } from "../../../src/engine/ports.ts";
import { systemClock } from "../../../src/engine/system-clock.ts";
import { createEngine } from "../../../src/library/packloop.ts";
import { openPack } from "../../../src/pack/pack.ts";
import { PROVIDERS, type Provider, portTo } from "./providers.ts";

const example = (name: string) =>
  readFileSync(new URL(`../../../examples/codegen/${name}`, import.meta.url), "utf8");

function program() {
  const pack = openPack(example("codegen.pack.yaml"), { file: "codegen.pack.yaml" });
  if (!pack.ok) throw pack.toError();
  return pack.program;
}

interface Ran {
  readonly status: string;
  readonly artifacts: JsonObject;
  readonly steps: readonly unknown[];
  readonly shown: string;
}

/** The example with the tools of its script. */
async function run(model: ModelPort): Promise<Ran> {
  let shown = "";
  const reports = [
    { passed: 2, failed: 3 },
    { passed: 5, failed: 0 },
  ];
  await using engine = await createEngine({
    model,
    tools: {
      read_file: () => "def slug(text): ...",
      write_file: () => "written",
      run_tests: () => reports.shift() ?? { passed: 5, failed: 0 },
    },
    retry: { attempts: 5, firstMs: 1, mostMs: 2 },
    onDelta: ({ text }) => {
      shown += text;
    },
  });
  const handle = await engine.start(program(), { variables: { requirements: "slugs" } });
  const { status, reason, output } = await handle.result();
  expect(reason).toBeNull();
  const trace = await handle.trace();
  const steps = trace.map(({ turn, from, event, to, visit, cause, changed, artifacts }) => {
    return { turn, from, event, to, visit, cause, changed, artifacts };
  });
  return { status, artifacts: output?.artifacts ?? {}, steps, shown };
}

const replies: ModelReply[] = [];
let expected: Ran;

beforeAll(async () => {
  const { script } = readScript(parse(example("script.yaml")) as JsonObject);
  const scripted = scriptedModel(script, systemClock());
  expected = await run({
    async call(request, context) {
      const reply = await scripted.call(request, context);
      replies.push(reply);
      return reply;
    },
  });
});

test("the scripted run is the one to compare with", () => {
  expect(expected.status).toBe("completed");
  expect(replies.length).toBeGreaterThan(6);
});

/** The scripted answers in their order, with a failure of each kind in front of one of them. */
function serve(): LLMock {
  const mock = new LLMock({ port: 0, chunkSize: 8 });
  const every = /./;
  let index = 0;
  const next = () => ({ model: every, sequenceIndex: index++ });
  for (const [nth, { text, calls }] of replies.entries()) {
    if (nth === 0) mock.on(next(), { error: { message: "slow down" }, status: 429, retryAfter: 0 });
    if (nth === 1) mock.on(next(), { error: { message: "internal" }, status: 500 });
    if (nth === 2)
      mock.on(next(), { content: "half an answer that ends in the middle" }, { truncateAfterChunks: 2 });
    if (nth === 3) mock.on(next(), { content: "never seen" }, { chaos: { malformedRate: 1 } });
    const toolCalls = calls.map(({ tool, args }) => ({ name: tool, arguments: JSON.stringify(args) }));
    const content = text === "" ? {} : { content: text };
    mock.on(next(), calls.length === 0 ? { content: text } : { ...content, toolCalls });
  }
  return mock;
}

describe.each<Provider>(PROVIDERS)("%s", (provider) => {
  test("the codegen example takes the same way, past every failure", async () => {
    const mock = serve();
    await mock.start();
    try {
      const { shown, ...ran } = await run(await portTo(provider, mock.url));
      const { shown: _shown, ...wanted } = expected;
      expect(ran).toEqual(wanted);
      for (const { text } of replies) expect(shown).toContain(text);
      expect(mock.getRequests()).toHaveLength(replies.length + 4);
    } finally {
      await mock.stop();
    }
  });
});
