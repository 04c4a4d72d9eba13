// Everything that can go wrong at a provider, over real connections, as named outcomes.

import { LLMock } from "@copilotkit/aimock";
import { describe, expect, test } from "vitest";
import { context, faultOf, PROVIDERS, type Provider, portTo, request, user } from "./providers.ts";
import { events, type WireAnswer, WireServer } from "./wire-server.ts";

const asked = request([user("hello")]);
const ways = [
  ["whole", {}],
  ["streamed", { delta: () => {} }],
] as const;

/** An error as each provider words it. */
const errorOf = (provider: Provider, type: string, message: string, status: number) => {
  if (provider === "anthropic") return { type: "error", error: { type, message } };
  if (provider === "google") return { error: { code: status, message, status: type.toUpperCase() } };
  return { error: { message, type, code: type } };
};

async function faultAt(provider: Provider, answer: WireAnswer, more: Parameters<typeof context>[0] = {}) {
  await using server = await WireServer.start(answer);
  const port = await portTo(provider, server.origin);
  return await faultOf(port.call(asked, context(more)));
}

const refusals: readonly (readonly [number, string, string, string])[] = [
  [400, "invalid_request_error", "bad_request", "temperature is wrong"],
  [401, "authentication_error", "unauthorized", "invalid key sk-secret"],
  [403, "permission_error", "unauthorized", "not yours: sk-secret"],
  [404, "not_found_error", "no_model", "no such model"],
  [429, "rate_limit_error", "rate_limited", "slow down"],
  [500, "api_error", "overloaded", "internal"],
  [503, "overloaded_error", "overloaded", "busy"],
  [529, "overloaded_error", "overloaded", "busy"],
];

describe.each(PROVIDERS)("%s", (provider) => {
  describe.each(ways)("%s", (_, shown) => {
    test.each(refusals)("status %i is the named outcome", async (status, type, code, message) => {
      const body = errorOf(provider, type, message, status);
      const fault = await faultAt(provider, { status, body }, shown);
      expect(fault.code).toBe(code);
      const isLater = ["rate_limited", "overloaded"].includes(code);
      expect(fault.retry).toBe(isLater ? "later" : "never");
      expect(fault.message).not.toContain("sk-secret");
      expect(fault.message).not.toContain("\n");
    });

    test("an answer that is no JSON is tried again", async () => {
      const answer = !("delta" in shown) ? { body: "{{{" } : { chunks: ["data: {{{\n\n"] };
      const fault = await faultAt(provider, answer, shown);
      expect([fault.code, fault.retry]).toEqual(["bad_response", "later"]);
    });

    test("a connection that breaks before the answer is tried again", async () => {
      const fault = await faultAt(provider, { chunks: [], cut: true }, shown);
      expect(["dropped", "network"]).toContain(fault.code);
      expect(fault.retry).toBe("later");
    });

    test("nobody listens there: the network is at fault", async () => {
      const server = await WireServer.start({});
      const { origin } = server;
      await server[Symbol.asyncDispose]();
      const fault = await faultOf((await portTo(provider, origin)).call(asked, context(shown)));
      expect([fault.code, fault.retry]).toEqual(["network", "later"]);
    });

    test("giving a call up closes its connection", async () => {
      await using server = await WireServer.start({ chunks: [], hang: true });
      const abort = new AbortController();
      const call = faultOf(
        (await portTo(provider, server.origin)).call(asked, context({ ...shown, signal: abort.signal })),
      );
      while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
      abort.abort();
      expect((await call).code).toBe("aborted");
      await server.left;
    });

    test("a provider that is silent runs into the time a call has", async () => {
      await using server = await WireServer.start({ chunks: [], hang: true });
      const port = await portTo(provider, server.origin, { timeout_sec: 0.1 });
      const fault = await faultOf(port.call(asked, context(shown)));
      expect([fault.code, fault.retry]).toEqual(["timeout", "later"]);
      await server.left;
    });
  });

  test("a refused key is one line that says what to set", async () => {
    const fault = await faultAt(provider, { status: 401, body: errorOf(provider, "x", "no", 401) });
    const names: Partial<Record<Provider, string>> = {
      anthropic: "set ANTHROPIC_API_KEY",
      openai: "set OPENAI_API_KEY",
      "openai chat": "set OPENAI_API_KEY",
      google: "set GOOGLE_GENERATIVE_AI_API_KEY",
    };
    expect(fault.message).toContain(names[provider] ?? "give the provider a valid key");
  });

  test.each([
    ["seconds", { "retry-after": "3" }, 3000],
    ["milliseconds", { "retry-after-ms": "250", "retry-after": "9" }, 250],
    ["a date that is over", { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }, 0],
  ])("a limit says when to come back in %s", async (_, headers, afterMs) => {
    const body = errorOf(provider, "rate_limit_error", "slow", 429);
    const fault = await faultAt(provider, { status: 429, headers, body });
    expect([fault.code, fault.afterMs]).toEqual(["rate_limited", afterMs]);
  });
});

test("a limit of Google says when to come back in its body", async () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }];
  const error = { code: 429, message: "quota", status: "RESOURCE_EXHAUSTED", details };
  expect((await faultAt("google", { status: 429, body: { error } })).afterMs).toBe(34_500);
});

test("a server's own limits come with their time over the mock's protocols too", async () => {
  const mock = new LLMock({ port: 0 });
  mock.on({ userMessage: "hello" }, { error: { message: "slow" }, status: 429, retryAfter: 7 });
  await mock.start();
  try {
    for (const provider of PROVIDERS) {
      const fault = await faultOf((await portTo(provider, mock.url)).call(asked, context()));
      expect([provider, fault.code, fault.afterMs]).toEqual([provider, "rate_limited", 7000]);
    }
  } finally {
    await mock.stop();
  }
});

describe("a stream that breaks in the middle is tried again", () => {
  test.each(PROVIDERS)("%s", async (provider) => {
    const mock = new LLMock({ port: 0, chunkSize: 3 });
    mock.on({ userMessage: "hello" }, { content: "a long story about weather" }, { truncateAfterChunks: 3 });
    await mock.start();
    try {
      const fault = await faultOf(
        (await portTo(provider, mock.url)).call(asked, context({ delta: () => {} })),
      );
      expect([fault.code, fault.retry]).toEqual(["dropped", "later"]);
    } finally {
      await mock.stop();
    }
  });
});

describe("a conversation that is too long will never be answered", () => {
  test.each<readonly [Provider, number, unknown]>([
    [
      "anthropic",
      400,
      errorOf(
        "anthropic",
        "invalid_request_error",
        "prompt is too long: 208310 tokens > 200000 maximum",
        400,
      ),
    ],
    ["anthropic", 413, errorOf("anthropic", "request_too_large", "Request exceeds the maximum size", 413)],
    ["openai", 400, errorOf("openai", "context_length_exceeded", "Your input exceeds it", 400)],
    ["openai chat", 400, errorOf("openai", "context_length_exceeded", "This model's limit", 400)],
    [
      "google",
      400,
      errorOf("google", "invalid_argument", "The input token count (9) exceeds the maximum (8).", 400),
    ],
    [
      "openai-compatible",
      400,
      errorOf("openai", "exceed_context_size_error", "the request exceeds the size", 400),
    ],
    [
      "openai-compatible",
      400,
      { error: { message: "This model's maximum context length is 4096 tokens.", type: "BadRequestError" } },
    ],
  ])("%s, status %i", async (provider, status, body) => {
    const fault = await faultAt(provider, { status, body });
    expect([fault.code, fault.retry]).toEqual(["context_length", "never"]);
  });
});

describe("money that is spent will not come back by asking again", () => {
  test.each<readonly [Provider, number, unknown]>([
    ["openai", 429, errorOf("openai", "insufficient_quota", "You exceeded your current quota", 429)],
    ["anthropic", 400, errorOf("anthropic", "invalid_request_error", "Your credit balance is too low", 400)],
    ["openai-compatible", 402, errorOf("openai", "payment", "no credits", 402)],
  ])("%s, status %i", async (provider, status, body) => {
    const fault = await faultAt(provider, { status, body });
    expect([fault.code, fault.retry]).toEqual(["quota", "never"]);
  });
});

test("Google names a wrong key in the details of a bad request", async () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }];
  const error = { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT", details };
  expect((await faultAt("google", { status: 400, body: { error } })).code).toBe("unauthorized");
});

describe("a refusal is an outcome of its own and final", () => {
  const claude = {
    type: "message",
    id: "m",
    model: "claude-sonnet-4-5",
    role: "assistant",
    content: [],
    stop_reason: "refusal",
    stop_sequence: null,
    usage: { input_tokens: 4, output_tokens: 0 },
  };
  const chat = {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "gpt-4.1",
    choices: [
      { index: 0, message: { role: "assistant", content: null, refusal: "No." }, finish_reason: "stop" },
    ],
    usage: { prompt_tokens: 4, completion_tokens: 1, total_tokens: 5 },
  };
  const responses = {
    id: "resp",
    object: "response",
    created_at: 1,
    model: "gpt-5.4",
    status: "completed",
    output: [
      {
        type: "message",
        id: "msg",
        role: "assistant",
        status: "completed",
        content: [{ type: "refusal", refusal: "No." }],
      },
    ],
    usage: { input_tokens: 4, output_tokens: 1, total_tokens: 5 },
  };
  const filtered = { ...chat, choices: [{ ...chat.choices[0], finish_reason: "content_filter" }] };
  const blocked = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: {} };
  const unsafe = { candidates: [{ content: { parts: [], role: "model" }, finishReason: "SAFETY" }] };
  test.each<readonly [Provider, string, unknown]>([
    ["anthropic", "stop reason", claude],
    ["openai chat", "refusal field", chat],
    ["openai chat", "content filter", filtered],
    ["openai", "refusal part", responses],
    ["google", "blocked prompt", blocked],
    ["google", "unsafe answer", unsafe],
  ])("%s: %s", async (provider, _, body) => {
    const fault = await faultAt(provider, { body });
    expect([fault.code, fault.retry]).toEqual(["refusal", "never"]);
  });
});

describe("errors inside a stream that began well", () => {
  test("Anthropic is overloaded after the first words", async () => {
    const chunks = events(
      {
        type: "message_start",
        message: {
          id: "m",
          model: "c",
          role: "assistant",
          content: [],
          usage: { input_tokens: 1, output_tokens: 0 },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Once" } },
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    );
    const fault = await faultAt("anthropic", { chunks }, { delta: () => {} });
    expect([fault.code, fault.retry]).toEqual(["overloaded", "later"]);
  });

  test("OpenAI fails a response that has begun", async () => {
    const error = { code: "server_error", message: "The server had an error" };
    const chunks = events(
      { type: "response.created", response: { id: "r", created_at: 1, model: "gpt-5.4" } },
      { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "msg" } },
      { type: "response.output_text.delta", item_id: "msg", delta: "Once" },
      { type: "response.failed", sequence_number: 4, response: { error, status: "failed" } },
    );
    const fault = await faultAt("openai", { chunks }, { delta: () => {} });
    expect([fault.code, fault.retry]).toEqual(["overloaded", "later"]);
  });

  test("a compatible server reports its own error", async () => {
    const chunks = events({ error: { message: "boom", type: "server_error" } });
    const fault = await faultAt("openai-compatible", { chunks }, { delta: () => {} });
    expect([fault.code, fault.retry]).toEqual(["overloaded", "later"]);
  });
});
