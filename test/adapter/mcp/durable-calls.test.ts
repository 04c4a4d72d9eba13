// Calls that are not over when they return: tasks of the server and questions to a person. Each step is made by
// a fresh set of connections, as after a crash of the process that made the one before.

import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import type { CallContext, ToolAnswer } from "../../../src/engine/ports.ts";
import { bench, context, faultOf, laterOf } from "./bench.ts";
import { type HttpHost, httpHost } from "./http-host.ts";
import { newWorld, type OwnWorld, text } from "./own-server.ts";

const NOW = 5_000_000;

/** One step of a call by a process that knows only what is in the journal. */
async function step(
  host: HttpHost,
  over: Partial<CallContext> & { readonly safe?: boolean; readonly now?: number } = {},
): Promise<ToolAnswer> {
  await using on = bench();
  on.now = over.now ?? NOW;
  return await on.one("job", { mcp: { url: host.url } }, over.safe).call({ n: 1 }, context(over));
}

const goOn = (answer: ToolAnswer, over: Partial<CallContext> = {}): Partial<CallContext> => ({
  handle: laterOf(answer).handle ?? null,
  ...over,
});

const seed = { resultType: "task", taskId: "t-1", status: "working", createdAt: "2026-08-01T00:00:00Z" };
const created = { ...seed, lastUpdatedAt: "2026-08-01T00:00:00Z", ttlMs: null, pollIntervalMs: 2500 };

function taskWorld(statuses: readonly JsonObject[]): OwnWorld {
  const world = newWorld({ job: () => created });
  let look = 0;
  world.tasks.set("t-1", () => {
    const status = statuses[Math.min(look, statuses.length - 1)] ?? {};
    look++;
    return { ...created, resultType: "complete", ...status };
  });
  return world;
}

const form = (message: string, properties: JsonObject): JsonObject => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message,
    requestedSchema: { type: "object", properties, required: Object.keys(properties) },
  },
});

describe("a task", () => {
  test("is called once, looked at by whoever comes next, and gives its result", async () => {
    const world = taskWorld([{ status: "working" }, { status: "completed", result: text("built") }]);
    await using host = await httpHost(world);
    const first = await step(host);
    expect(first).toMatchObject({ deferred: true, until: NOW + 2500, handle: { task: "t-1" } });
    const second = await step(host, goOn(first));
    expect(second).toMatchObject({ deferred: true, until: NOW + 2500 });
    expect(await step(host, goOn(second))).toEqual({ ok: true, value: "built" });
    expect(world.calls).toHaveLength(1);
  });

  test("that runs long is looked at less often", async () => {
    await using host = await httpHost(taskWorld([{ status: "working" }]));
    const first = await step(host);
    const later = async (now: number): Promise<number> =>
      (laterOf(await step(host, { ...goOn(first), now })).until ?? 0) - now;
    expect(await later(NOW + 10_000)).toBe(2500);
    expect(await later(NOW + 300_000)).toBe(30_000);
    expect(await later(NOW + 90_000_000)).toBe(60_000);
  });

  test.each([
    {
      status: { status: "failed", error: { code: -32603, message: "no disk" } },
      code: "task_failed",
      says: "no disk",
    },
    { status: { status: "cancelled", statusMessage: "by admin" }, code: "task_cancelled", says: "by admin" },
    {
      status: { status: "completed", result: { ...text("tests red"), isError: true } },
      code: "tool_error",
      says: "tests red",
    },
  ])("that ends $status.status is an error for the model", async ({ status, code, says }) => {
    await using host = await httpHost(taskWorld([status]));
    const answer = await step(host, goOn(await step(host)));
    expect(answer).toMatchObject({ ok: false, code, message: expect.stringContaining(says) });
  });

  test("outlives a server that is away for a while", async () => {
    const world = taskWorld([{ status: "completed", result: text("built") }]);
    await using host = await httpHost(world);
    const first = await step(host);
    host.instead = (_request, body, response) => {
      if (!body.includes("tasks/get")) return false;
      response.writeHead(503).end();
      return true;
    };
    const away = await step(host, goOn(first));
    expect(away).toMatchObject({ deferred: true, handle: { task: "t-1", misses: 1 } });
    host.instead = () => false;
    expect(await step(host, goOn(away))).toEqual({ ok: true, value: "built" });
  });

  test("that the server forgot is in doubt, or called again where that does no harm", async () => {
    const world = taskWorld([{ status: "working" }]);
    await using host = await httpHost(world);
    const first = await step(host);
    world.tasks.clear();
    expect(await faultOf(step(host, goOn(first)))).toMatchObject({ code: "in_doubt", retry: "unknown" });
    expect(world.calls).toHaveLength(1);
    expect(await step(host, { ...goOn(first), safe: true })).toMatchObject({ deferred: true });
    expect(world.calls).toHaveLength(2);
  });

  test("asks a person, gets the answer once, and goes on", async () => {
    const open = {
      status: "input_required",
      inputRequests: { size: form("how big?", { size: { type: "string" } }) },
    };
    const world = taskWorld([open, open, { status: "completed", result: text("L") }]);
    await using host = await httpHost(world);
    const asked = await step(host, goOn(await step(host)));
    expect(laterOf(asked).question).toMatchObject({
      text: "how big?",
      schema: { type: "object", required: ["size"] },
    });
    const told = await step(host, goOn(asked, { input: { size: "L" } }));
    expect(world.updates).toMatchObject([
      { taskId: "t-1", inputResponses: { size: { action: "accept", content: { size: "L" } } } },
    ]);
    expect(laterOf(told).question).toBeUndefined();
    expect(await step(host, goOn(told))).toEqual({ ok: true, value: "L" });
  });

  test("keeps a person's answer until the server is there to take it", async () => {
    const open = {
      status: "input_required",
      inputRequests: { size: form("how big?", { size: { type: "string" } }) },
    };
    const world = taskWorld([open, { status: "completed", result: text("XL") }]);
    await using host = await httpHost(world);
    const asked = await step(host, goOn(await step(host)));
    host.instead = (_request, body, response) => {
      if (!body.includes("tasks/update")) return false;
      response.writeHead(503).end();
      return true;
    };
    const kept = await step(host, goOn(asked, { input: "XL" }));
    host.instead = () => false;
    expect(await step(host, goOn(kept))).toEqual({ ok: true, value: "XL" });
    expect(world.updates).toMatchObject([{ inputResponses: { size: { content: { size: "XL" } } } }]);
  });
});

describe("a question in the middle of a call", () => {
  const confirm = form("deploy?", { sure: { type: "boolean" } });
  const asking = (requests: JsonObject): OwnWorld =>
    newWorld({
      job: ({ inputResponses }) =>
        inputResponses === undefined
          ? { resultType: "input_required", inputRequests: requests, requestState: "state-1" }
          : text(JSON.stringify(inputResponses)),
    });

  test("is a wait that another process ends by calling again with the server's state", async () => {
    const world = asking({ ok: confirm });
    await using host = await httpHost(world);
    const asked = await step(host);
    expect(asked).toMatchObject({
      deferred: true,
      question: { text: "deploy?", schema: { required: ["sure"] } },
    });
    const answer = await step(host, goOn(asked, { input: { sure: true } }));
    expect(answer).toEqual({ ok: true, value: '{"ok":{"action":"accept","content":{"sure":true}}}' });
    expect(world.calls[1]).toMatchObject({ requestState: "state-1", args: { n: 1 } });
  });

  test.each<{ input: Json; response: JsonObject }>([
    { input: true, response: { action: "accept", content: { sure: true } } },
    { input: { action: "decline" }, response: { action: "decline" } },
    { input: { action: "cancel" }, response: { action: "cancel" } },
  ])("takes $input", async ({ input, response }) => {
    await using host = await httpHost(asking({ ok: confirm }));
    const answer = await step(host, goOn(await step(host), { input }));
    expect(answer).toEqual({ ok: true, value: JSON.stringify({ ok: response }) });
  });

  test("is asked again when the answer cannot fill the form", async () => {
    const two = form("who?", { first: { type: "string" }, last: { type: "string" } });
    await using host = await httpHost(asking({ who: two }));
    const again = await step(host, goOn(await step(host), { input: "Ada" }));
    expect(again).toMatchObject({ deferred: true, question: { text: "who?" }, handle: { round: 2 } });
  });

  test("names the host of an address a person is to open", async () => {
    const url = {
      method: "elicitation/create",
      params: { mode: "url", message: "sign in", url: "https://id.example/x" },
    };
    await using host = await httpHost(asking({ login: url }));
    const asked = await step(host);
    expect(laterOf(asked).question).toMatchObject({
      text: expect.stringContaining("host `id.example`"),
      schema: { type: "boolean" },
      ...{ auth: true, url: "https://id.example/x" },
    });
    expect(await step(host, goOn(asked, { input: true }))).toEqual({
      ok: true,
      value: '{"login":{"action":"accept"}}',
    });
  });

  test("sends nobody to an address that is no page", async () => {
    const params = { mode: "url", message: "sign in", url: "javascript:alert(1)" };
    await using host = await httpHost(asking({ login: { method: "elicitation/create", params } }));
    expect(await step(host)).toMatchObject({ ok: false, code: "input_unsupported" });
  });

  test("of several parts is one form", async () => {
    await using host = await httpHost(asking({ a: confirm, b: form("name?", { name: { type: "string" } }) }));
    const asked = await step(host);
    expect(laterOf(asked).question).toMatchObject({ schema: { required: ["a", "b"] } });
    const answer = await step(host, goOn(asked, { input: { a: { sure: false }, b: "Ada" } }));
    expect(JSON.parse(String((answer as { value?: unknown }).value))).toEqual({
      a: { action: "accept", content: { sure: false } },
      b: { action: "accept", content: { name: "Ada" } },
    });
  });

  test("that no person can answer is an error for the model", async () => {
    const sampling = { method: "sampling/createMessage", params: { messages: [], maxTokens: 5 } };
    await using host = await httpHost(asking({ think: sampling }));
    host.instead = (_request, body, response) => {
      if (!body.includes("tools/call")) return false;
      const { id } = JSON.parse(body) as { id: number };
      const result = { resultType: "input_required", inputRequests: { think: sampling } };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      return true;
    };
    expect(await step(host)).toMatchObject({ ok: false, code: "input_unsupported" });
  });

  test("without a question is a request to come back", async () => {
    const world = newWorld({
      job: ({ requestState }) =>
        requestState === undefined ? { resultType: "input_required", requestState: "queued" } : text("done"),
    });
    await using host = await httpHost(world);
    const later = await step(host);
    expect(later).toMatchObject({ deferred: true, until: NOW + 1000 });
    expect(await step(host, goOn(later))).toEqual({ ok: true, value: "done" });
  });
});
