// A run that waits until somebody has seen to access elsewhere: clients that can open pages are sent to the
// page, others are shown a form.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { RunPorts } from "../../src/engine/dispatcher.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { changedWorlds } from "./changed-worlds.ts";
import { callTool, type RpcAnswer, rpc, WITH_FORMS, WITH_PAGES, WITH_TASKS } from "./mcp-rpc.ts";
import { asks, start } from "./sample-pack.ts";
import { type Served, served } from "./served.ts";

const PAGE = "https://id.example/login?for=r";
const login = { text: "Log in.", schema: { type: "boolean" }, auth: true, url: PAGE };

interface Asking {
  readonly question: JsonObject;
  /** It asks no sooner. */
  readonly after?: Promise<void>;
}

/** A server whose tool wants somebody to log in first, and what it was told then. */
async function asking(terms: Asking): Promise<Served & { readonly heard: readonly unknown[] }> {
  const heard: unknown[] = [];
  const clock = systemClock();
  const tools: RunPorts["tools"] = {
    knows: () => true,
    isSafe: () => true,
    async call(_tool, _args, { input }) {
      await terms.after;
      if (input === undefined) return { deferred: true, question: terms.question, handle: {} };
      heard.push(input);
      return { ok: true, value: null };
    },
  };
  const here = await served({
    ...changedWorlds((ports) => ({ ...ports, tools })),
    // A call becomes a task soon.
    clock: { ...clock, sleep: (ms, signal) => clock.sleep(ms === 2_000 ? 50 : ms, signal) },
  });
  return { ...here, heard };
}

const startedBy = (url: string, capabilities: JsonObject, more: JsonObject = {}): Promise<RpcAnswer> =>
  callTool(url, "start_run", start(asks), { capabilities, more });

const requestOf = ({ result }: RpcAnswer): readonly [string, JsonObject] => {
  const requests = result["inputRequests"] as Readonly<Record<string, { params: JsonObject }>>;
  const [key = "", request] = Object.entries(requests)[0] ?? [];
  return [key, request?.params ?? {}];
};

const answerTo = (asked: RpcAnswer, response: JsonObject): JsonObject => ({
  requestState: asked.result["requestState"] ?? "",
  inputResponses: { [requestOf(asked)[0]]: response },
});

describe("a client that can open pages", () => {
  test("is sent to the page, and that its user went there is the answer", async () => {
    const { url, heard } = await asking({ question: login });
    const asked = await startedBy(url, WITH_PAGES);
    expect(requestOf(asked)[1]).toEqual({ mode: "url", message: "Log in.", url: PAGE });
    const { result } = await startedBy(url, WITH_PAGES, answerTo(asked, { action: "accept" }));
    expect(heard).toEqual([true]);
    // The next question is one for a form, which this client cannot show.
    expect(result["structuredContent"]).toMatchObject({ status: "waiting", state: "gate" });
  });

  test("leaves the run waiting when its user does not go", async () => {
    const { url, heard } = await asking({ question: login });
    const asked = await startedBy(url, WITH_PAGES);
    const { result } = await startedBy(url, WITH_PAGES, answerTo(asked, { action: "decline" }));
    expect(result["structuredContent"]).toMatchObject({ status: "waiting", state: "work" });
    expect(heard).toEqual([]);
  });

  test("is sent there by a task as well", async () => {
    const { promise: after, resolve: asksNow } = Promise.withResolvers<void>();
    const here = await asking({ question: login, after });
    const options = { capabilities: { ...WITH_PAGES, ...WITH_TASKS } };
    const { result: task } = await callTool(here.url, "start_run", start(asks), options);
    const { "packloop/run": run } = task["_meta"] as { "packloop/run": string };
    asksNow();
    await here.until(run, ({ status }) => status === "waiting");
    const { result } = await rpc(here.url, "tasks/get", { taskId: task["taskId"] ?? "" }, options);
    expect(result["status"]).toBe("input_required");
    expect(requestOf({ status: 200, result, error: undefined })[1]).toMatchObject({ mode: "url", url: PAGE });
  });
});

test("a client with forms alone is shown one", async () => {
  const { url, heard } = await asking({ question: login });
  const asked = await startedBy(url, WITH_FORMS);
  expect(requestOf(asked)[1]).toMatchObject({
    mode: "form",
    requestedSchema: { properties: { answer: { type: "boolean" } } },
  });
  const empty = await startedBy(url, WITH_FORMS, answerTo(asked, { action: "accept", content: {} }));
  expect(empty.error).toMatchObject({ code: -32602 });
  await startedBy(url, WITH_FORMS, answerTo(asked, { action: "accept", content: { answer: true } }));
  expect(heard).toEqual([true]);
});

test.each([
  ["that is no page", { ...login, url: "javascript:alert(1)" }],
  ["for something else than access", { ...login, auth: false }],
])("nobody is sent to an address %s", async (_name, question) => {
  const { url, heard } = await asking({ question });
  const both = { elicitation: { form: {}, url: {} } };
  const asked = await startedBy(url, both);
  expect(requestOf(asked)[1]).toMatchObject({ mode: "form" });
  const { error } = await startedBy(url, both, answerTo(asked, { action: "accept" }));
  expect(error).toMatchObject({ code: -32602 });
  expect(heard).toEqual([]);
});
