// What a waiting run wants, put to the user of a client that can show forms, and the answers that come back.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { RunPorts } from "../../src/engine/dispatcher.ts";
import { Fault } from "../../src/engine/ports.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { principalOf, tokenOf } from "./callers.ts";
import { changedWorlds } from "./changed-worlds.ts";
import { call, httpClient } from "./mcp-client.ts";
import { callTool, type RpcAnswer, WITH_FORMS } from "./mcp-rpc.ts";
import { asks, pack, start } from "./sample-pack.ts";
import { served } from "./served.ts";

/** Artifacts at the gate, and a way back to it. */
const gated = pack.replace(
  "orchestration: external,",
  "orchestration: external, artifacts: { note: { type: text/plain }, data: { type: application/json } },",
);

const stateOf = ({ result }: RpcAnswer): string => String(result["requestState"]);
const keyOf = ({ result }: RpcAnswer): string => Object.keys(result["inputRequests"] as JsonObject)[0] ?? "";
const statusOf = ({ result }: RpcAnswer): unknown => (result["structuredContent"] as JsonObject)["status"];

describe("the user of a client with forms", () => {
  test("chooses the event, says something to the next state and writes artifacts", async () => {
    const { url, store } = await served();
    const shown: JsonObject[] = [];
    const client = await httpClient(url, {
      user: (_message, schema) => {
        shown.push(schema);
        return { event: "Yes", context: "well done", artifact_note: "mine", artifact_data: '{"a": 1}' };
      },
    });
    const { summary } = await call(client, "start_run", { ...start(asks), pack: gated });
    expect(shown).toMatchObject([
      {
        required: ["event"],
        properties: {
          event: { enum: ["Yes", "No"] },
          artifact_note: { type: "string" },
          artifact_data: { type: "string" },
        },
      },
    ]);
    expect(summary).toMatchObject({
      status: "completed",
      output: { artifacts: { note: "mine", data: { a: 1 } } },
    });
    const rows = await store.rows(summary.run, { from: 1, to: 99, limit: 99 });
    expect(JSON.stringify(rows)).toContain("well done");
  });

  test("is not asked the same thing twice when they decline", async () => {
    const { url } = await served();
    let asked = 0;
    const client = await httpClient(url, {
      user: () => {
        asked++;
        return undefined;
      },
    });
    const { summary, isError } = await call(client, "start_run", start(asks));
    expect([summary.status, isError, asked]).toEqual(["waiting", false, 1]);
  });

  test("approves, edits or rejects a gated call", async () => {
    const { url } = await served({ settings: { ...noSettings("."), approvals: ["look"] } });
    const messages: string[] = [];
    const answers: JsonObject[] = [
      { decision: "edit", value: '{"where": "there"}' },
      { decision: "approve" },
      { event: "Yes" },
    ];
    const client = await httpClient(url, {
      user: (message) => {
        messages.push(message);
        return answers.shift();
      },
    });
    const { summary } = await call(client, "start_run", start(asks));
    expect(summary).toMatchObject({ status: "completed", used: { tool_calls: 1 } });
    expect(messages[0]).toContain('`look` be called with {"where":"here"}');
    expect(messages[1]).toContain('`look` be called with {"where":"there"}');
  });

  test("says something to a run that waits for a message", async () => {
    const { url } = await served();
    const talk = pack.replace("orchestration: external,", "");
    const client = await httpClient(url, {
      user: (_message, schema) =>
        "text" in (schema["properties"] as JsonObject) ? { text: "go on" } : undefined,
    });
    const script = {
      states: { work: [{ text: "Shall I?" }, { event: "Done" }], end: [{ text: "Goodbye." }] },
    };
    const body = { ...start(script, { mode: "conversational" }), pack: talk };
    const { summary } = await call(client, "start_run", body);
    expect(summary.status).toBe("completed");
  });

  test.each([
    { name: "makes a call in doubt again", answer: { decision: "retry" }, status: "waiting" },
    {
      name: "supplies the result of a call in doubt",
      answer: { decision: "result", result: "42" },
      status: "waiting",
    },
    { name: "gives up a call in doubt", answer: { decision: "abort" }, status: "failed" },
  ])("$name", async ({ answer, status }) => {
    let calls = 0;
    const tools: RunPorts["tools"] = {
      knows: () => true,
      isSafe: () => false,
      async call() {
        calls++;
        if (calls > 1) return { ok: true, value: "bright" };
        throw new Fault("cut", "the line was cut", { retry: "unknown" });
      },
    };
    const { url } = await served(changedWorlds((ports) => ({ ...ports, tools })));
    const client = await httpClient(url, {
      user: (message) => (message.includes("its end is unknown") ? answer : undefined),
    });
    const { summary } = await call(client, "start_run", start(asks));
    expect(summary.status).toBe(status);
    expect(calls).toBe(answer.decision === "retry" ? 2 : 1);
  });

  test.each([
    { question: { text: "Which?", choices: ["a", "b"] }, fields: { answer: { enum: ["a", "b"] } } },
    { question: { text: "How many?", schema: { type: "integer" } }, fields: { answer: { type: "integer" } } },
    {
      question: { text: "Where?", schema: { type: "object", properties: { at: { type: "string" } } } },
      fields: { at: { type: "string" } },
    },
    { question: { text: "Well?" }, fields: { answer: { type: "string" } } },
  ])("is asked $question.text by a tool, in its own words", async ({ question, fields }) => {
    const answer = question.schema?.type === "integer" ? 3 : "a";
    const given: JsonObject = "at" in fields ? { at: "home" } : { answer };
    const heard: unknown[] = [];
    const tools: RunPorts["tools"] = {
      knows: () => true,
      isSafe: () => true,
      async call(_tool, _args, { input }) {
        if (input === undefined) return { deferred: true, question, handle: {} };
        heard.push(input);
        return { ok: true, value: null };
      },
    };
    const { url } = await served(changedWorlds((ports) => ({ ...ports, tools })));
    const client = await httpClient(url, {
      user: (message, schema) => {
        if (message !== question.text) return undefined;
        expect(schema["properties"]).toMatchObject(fields);
        return given;
      },
    });
    await call(client, "start_run", start(asks));
    expect(heard).toEqual(["at" in fields ? given : answer]);
  });
});

test("what an agent of the run waits for is asked for the run that was started", async () => {
  const { url } = await served();
  const withAgent = pack
    .replace("tools: [look]", "tools: [look, helper]")
    .replace(
      "  close: {",
      "  helper: { id: helper, name: Helper, version: 1.0.0, system_template: Help. }\n  close: {",
    )
    .concat("agents: { entry: work, members: { work: {}, helper: { state: gate } } }\n");
  const script = {
    states: {
      work: [{ calls: [{ tool: "helper", args: { query: "help" } }] }, { event: "Done" }],
      gate: [{ text: "Well?" }],
      end: [{ text: "Goodbye." }],
    },
  };
  const messages: string[] = [];
  const client = await httpClient(url, {
    user: (message) => {
      messages.push(message);
      return { event: "Yes" };
    },
  });
  const { summary } = await call(client, "start_run", { ...start(script), pack: withAgent });
  expect(summary.status).toBe("completed");
  expect(messages).toEqual([expect.stringContaining("in state gate")]);
  expect(messages[0]).toMatch(new RegExp(`^Run ${summary.run}/\\d+ `));
});

describe("the state of a question", () => {
  const asked = async (url: string, token?: string): Promise<RpcAnswer> =>
    callTool(url, "start_run", start(asks), {
      capabilities: WITH_FORMS,
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    });
  const answer = (url: string, first: RpcAnswer, more: JsonObject, token?: string): Promise<RpcAnswer> =>
    callTool(url, "start_run", start(asks), {
      capabilities: WITH_FORMS,
      more: {
        requestState: stateOf(first),
        inputResponses: { [keyOf(first)]: { action: "accept", content: { event: "Yes" } } },
        ...more,
      },
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    });

  test("starts no second run, and is of use once", async () => {
    const { url, store } = await served();
    const first = await asked(url);
    expect(first.result["resultType"]).toBe("input_required");
    const answered = await answer(url, first, {});
    expect(statusOf(answered)).toBe("completed");
    const again = await answer(url, first, {});
    expect(again.result["structuredContent"]).toEqual(answered.result["structuredContent"]);
    expect(await store.names({ prefix: "", limit: 10 })).toHaveLength(1);
  });

  test("never answers what is asked later, not even by the same event", async () => {
    const { url } = await served();
    const loop = pack.replace("Yes: end, No: work", "Yes: end, No: gate");
    const start1 = { ...start(asks), pack: loop };
    const options = { capabilities: WITH_FORMS };
    const first = await callTool(url, "start_run", start1, options);
    const say = (content: JsonObject) =>
      callTool(url, "start_run", start1, {
        ...options,
        more: {
          requestState: stateOf(first),
          inputResponses: { [keyOf(first)]: { action: "accept", content } },
        },
      });
    const second = await say({ event: "No" });
    expect(second.result["resultType"]).toBe("input_required");
    expect(keyOf(second)).not.toBe(keyOf(first));
    // Both answers name the first question, so the run still waits at the second.
    await say({ event: "Yes" });
    const third = await say({ event: "Yes" });
    expect(third.result).toMatchObject({ structuredContent: { status: "waiting", state: "gate" } });
  });

  test.each([
    { name: "made up", change: (state: string) => `${state.slice(0, -3)}AAA` },
    {
      name: "about another run",
      change: (state: string) => `${btoa('{"run":"r_1","asks":[],"until":9e15}')}.${state.split(".")[1]}`,
    },
    { name: "no text at all", change: () => "" },
  ])("is refused when it is $name", async ({ change }) => {
    const { url } = await served();
    const first = await asked(url);
    const { error } = await answer(url, first, { requestState: change(stateOf(first)) });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("requestState") });
  });

  test("is refused from somebody else", async () => {
    const { url } = await served({ tokenNeeded: true, principalOf });
    const first = await asked(url, tokenOf("admin"));
    const { error } = await answer(url, first, {}, tokenOf("runs:write"));
    expect(error).toMatchObject({ code: -32602 });
    expect(statusOf(await answer(url, first, {}, tokenOf("admin")))).toBe("completed");
  });

  test("is refused a day later", async () => {
    let ahead = 0;
    const clock = systemClock();
    const { url } = await served({ clock: { ...clock, now: () => clock.now() + ahead } });
    const first = await asked(url);
    ahead = 25 * 60 * 60 * 1000;
    expect((await answer(url, first, {})).error).toMatchObject({ code: -32602 });
  });

  test("holds when another server takes the store over", async () => {
    const before = await served();
    const first = await asked(before.url);
    await before.stop();
    const after = await served({ folder: before.folder });
    expect(statusOf(await answer(after.url, first, {}))).toBe("completed");
  });

  test("needs answers that fit the form, and the question stays open", async () => {
    const { url } = await served();
    const first = await asked(url);
    for (const response of [
      { action: "accept", content: { event: "Maybe" } },
      { action: "accept", content: {} },
      { action: "accept" },
      { action: "perhaps" },
    ]) {
      const { error } = await answer(url, first, { inputResponses: { [keyOf(first)]: response } });
      expect(error, JSON.stringify(response)).toMatchObject({ code: -32602 });
    }
    expect(statusOf(await answer(url, first, {}))).toBe("completed");
  });

  test("asks again for what was not answered", async () => {
    const { url } = await served();
    const first = await asked(url);
    const again = await answer(url, first, { inputResponses: {} });
    expect(again.result["resultType"]).toBe("input_required");
  });

  test("belongs to answers", async () => {
    const { url, store } = await served();
    const more = { inputResponses: { x: { action: "accept", content: {} } } };
    const { error } = await callTool(url, "start_run", start(asks), { capabilities: WITH_FORMS, more });
    expect(error).toMatchObject({ code: -32602 });
    expect(await store.names({ prefix: "", limit: 1 })).toEqual([]);
  });
});

test("a client without forms is told what the run waits for", async () => {
  const { url } = await served();
  const { result } = await callTool(url, "start_run", start(asks));
  expect(result).toMatchObject({
    resultType: "complete",
    structuredContent: { status: "waiting", waiting_for: [{ kind: "event" }] },
  });
});

test("a token that started a run is not asked to approve its calls", async () => {
  const scopes = ["runs:write", "runs:read", "approvals:decide", "events:send"] as const;
  const { url } = await served({
    tokenNeeded: true,
    principalOf: (name) => ({ name, scopes }),
    settings: { ...noSettings("."), approvals: ["look"] },
  });
  const started = await callTool(url, "start_run", start(asks), {
    capabilities: WITH_FORMS,
    headers: { authorization: "Bearer ann" },
  });
  expect(started.result).toMatchObject({ structuredContent: { waiting_for: [{ kind: "approval" }] } });
});
