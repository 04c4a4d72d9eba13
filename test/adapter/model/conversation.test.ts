// One scripted conversation over the wire protocols of all providers, against a real HTTP server.

import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ModelReply } from "../../../src/core/facts.ts";
import { context, PROVIDERS, type Provider, portTo, request, user } from "./providers.ts";

const mock = new LLMock({ port: 0, chunkSize: 5 });
const usage = {
  prompt_tokens: 40,
  completion_tokens: 9,
  input_tokens: 40,
  output_tokens: 9,
  promptTokenCount: 40,
  candidatesTokenCount: 9,
};

beforeAll(async () => {
  mock.on(
    { userMessage: "Paris and Rome", hasToolResult: false },
    {
      content: "I will look.",
      toolCalls: [
        { name: "get_weather", arguments: '{"town":"Paris"}' },
        { name: "get_weather", arguments: '{"town":"Rome"}' },
      ],
      usage,
    },
  );
  mock.on({ userMessage: "Paris and Rome", hasToolResult: true }, { content: "Sun in both towns.", usage });
  mock.on(
    { userMessage: "broken" },
    { toolCalls: [{ name: "get_weather", arguments: '{"town": Par' }], usage },
  );
  await mock.start();
});
afterAll(() => mock.stop());

const bare = ({ text, calls, usage: { inputTokens, outputTokens } }: ModelReply) => ({
  text,
  calls,
  inputTokens,
  outputTokens,
});

const first = {
  text: "I will look.",
  calls: [
    { id: "call_7_1", tool: "get_weather", args: { town: "Paris" } },
    { id: "call_7_2", tool: "get_weather", args: { town: "Rome" } },
  ],
  inputTokens: 40,
  outputTokens: 9,
};

async function talk(provider: Provider, delta?: (text: string) => void): Promise<readonly ModelReply[]> {
  const port = await portTo(provider, mock.url);
  const shown = delta === undefined ? {} : { delta };
  const asked = user("How is it in Paris and Rome?");
  const reply = await port.call(request([asked]), context(shown));
  const results = reply.calls.map(({ id, tool }, index) => {
    return { role: "tool" as const, call: id, tool, value: { sky: "clear", index }, error: index === 1 };
  });
  const said = { role: "assistant" as const, text: reply.text, calls: reply.calls };
  const answer = reply.extra === undefined ? said : { ...said, extra: reply.extra };
  return [reply, await port.call(request([asked, answer, ...results]), context({ ...shown, step: 10 }))];
}

describe.each(PROVIDERS)("%s", (provider) => {
  test("a conversation with two calls gives the same answers as with every other provider", async () => {
    const [one, two] = await talk(provider);
    expect(bare(one as ModelReply)).toEqual(first);
    expect(bare(two as ModelReply)).toEqual({
      text: "Sun in both towns.",
      calls: [],
      inputTokens: 40,
      outputTokens: 9,
    });
    expect(two?.extra).toBeUndefined();
  });

  test("the same conversation streamed gives the same answers, and the text as it comes", async () => {
    const deltas: string[] = [];
    const [one, two] = await talk(provider, (text) => void deltas.push(text));
    expect(bare(one as ModelReply)).toEqual(first);
    expect(two?.text).toBe("Sun in both towns.");
    expect(deltas.join("")).toBe("I will look.Sun in both towns.");
    expect(deltas.length).toBeGreaterThan(2);
  });

  test("results reach the server as data under the names of their calls", async () => {
    mock.clearRequests();
    await talk(provider);
    const body = JSON.stringify(mock.getLastRequest()?.body);
    expect(body).toMatch(/tool_output/);
    expect(body).toMatch(/tool_error/);
    expect(body).toMatch(/clear/);
  });
});

// Arguments are text in the protocols of OpenAI only.
describe.each(["openai", "openai chat", "openai-compatible"] as const)("%s", (provider) => {
  test.each([
    ["streamed", true],
    ["whole", false],
  ] as const)("arguments that are no JSON come back as their text, %s", async (_, streams) => {
    const port = await portTo(provider, mock.url);
    const shown = streams ? { delta: () => {} } : {};
    const reply = await port.call(request([user("broken")]), context(shown));
    expect(reply.calls).toEqual([{ id: "call_7_1", tool: "get_weather", args: '{"town": Par' }]);
  });
});
