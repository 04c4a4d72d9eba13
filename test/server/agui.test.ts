// AG-UI as its own client speaks it: every stream passes the client's checker, and deltas add up to snapshots.

import { HttpAgent, type RunAgentResult } from "@ag-ui/client";
import patches from "fast-json-patch";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { interrupts, type Page, post, said } from "./agui-page.ts";
import { asks, ends, start } from "./sample-pack.ts";
import { served } from "./served.ts";

const props = (script: JsonObject, more: JsonObject = {}): JsonObject => {
  const { input: _input, ...rest } = start(script, more);
  return rest;
};

const runOf = ({ events }: Page): string =>
  String((events[0]?.["metadata"] as JsonObject | undefined)?.["run"]);

/** The snapshot at the beginning with every delta applied is the one at the end. */
function deltasAddUp({ events }: Page): void {
  let state: unknown;
  for (const { type, snapshot, delta } of events) {
    if (type === "STATE_SNAPSHOT") {
      if (state !== undefined) expect(snapshot).toEqual(state);
      state = structuredClone(snapshot);
    }
    if (type === "STATE_DELTA") state = patches.applyPatch(state, delta as never, true).newDocument;
  }
  expect(state).toBeDefined();
}

const withAgent = `id: house
name: House
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  head: { id: head, name: Head, version: 1.0.0, system_template: "Lead.", tools: [hand] }
  hand: { id: hand, name: Hand, version: 1.0.0, system_template: "Do." }
agents:
  entry: head
  members: { head: { description: Leads. }, hand: { description: Does., state: lift } }
workflow:
  version: 2
  entry: lead
  engine: { budget: { max_total_visits: 9, max_wall_time_sec: 600 } }
  states:
    lead: { prompt_task: head, on_event: { Done: end } }
    lift: { prompt_task: hand, orchestration: external, on_event: { Fine: end } }
    end: { prompt_task: head, terminal: true }
`;

const agentAsks: JsonObject = {
  states: {
    lead: [{ calls: [{ tool: "hand", args: { input: "lift" } }] }, { event: "Done" }],
    lift: [{ text: "May I?" }],
    end: [{ text: "Over." }],
  },
};

describe("a thread", () => {
  test("is a run from its first word to its result", async () => {
    const server = await served();
    const page = await post(server, {
      threadId: "t1",
      runId: "1",
      messages: said("go"),
      forwardedProps: props(ends),
    });
    expect(page.types.slice(0, 2)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT"]);
    const steps = page.events.filter(({ type }) => type === "STEP_STARTED").map(({ stepName }) => stepName);
    expect(steps).toEqual(["work (1)", "work (2)", "end (1)"]);
    expect(page.last).toMatchObject({
      type: "RUN_FINISHED",
      threadId: "t1",
      outcome: { type: "success" },
      result: { text: "Goodbye.", artifacts: { note: "two" } },
    });
    deltasAddUp(page);
  });

  test("stops where a person is asked, and goes on with the answer", async () => {
    const server = await served();
    const first = await post(server, {
      threadId: "t1",
      runId: "1",
      messages: said("go"),
      forwardedProps: props(asks),
    });
    const [question, ...others] = interrupts(first);
    expect(others).toEqual([]);
    expect(question).toMatchObject({
      reason: "input_required",
      responseSchema: { properties: { event: { enum: ["Yes", "No"] } } },
    });
    const results = first.events.filter(({ type }) => type === "TOOL_CALL_RESULT");
    expect(results.map(({ content }) => content)).toContain('{"light":"on"}');
    const resume = [{ interruptId: question?.["id"], status: "resolved", payload: { event: "Yes" } }];
    const second = await post(server, { threadId: "t1", runId: "2", resume } as never);
    expect(second.last).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
    deltasAddUp(second);
    const again = await post(server, { threadId: "t1", runId: "3", resume } as never);
    expect(again.last).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
    expect(again.types).not.toContain("STEP_STARTED");
  });

  test("is found by another page under the name of the run, as it stands", async () => {
    const server = await served();
    const first = await post(server, {
      threadId: "t1",
      runId: "1",
      messages: said("go"),
      forwardedProps: props(asks),
    });
    const run = runOf(first);
    const second = await post(server, { threadId: run, runId: "1" });
    expect(interrupts(second)).toEqual(interrupts(first));
    expect(second.types).toContain("MESSAGES_SNAPSHOT");
  });
});

describe("what a page may not say", () => {
  const wrong: readonly [string, (id: string) => readonly JsonObject[]][] = [
    ["nothing that was asked", () => [{ interruptId: "99", status: "resolved", payload: { event: "Yes" } }]],
    [
      "an event that is not allowed",
      (id) => [{ interruptId: id, status: "resolved", payload: { event: "Maybe" } }],
    ],
    ["something else than the form", (id) => [{ interruptId: id, status: "resolved", payload: "yes" }]],
    [
      "more than was asked",
      (id) => [
        { interruptId: id, status: "resolved", payload: { event: "Yes" } },
        { interruptId: "98", status: "resolved", payload: {} },
      ],
    ],
  ];
  test.each(wrong)("%s changes nothing", async (_name, resume) => {
    const server = await served();
    const first = await post(server, {
      threadId: "t1",
      runId: "1",
      messages: said("go"),
      forwardedProps: props(asks),
    });
    const id = interrupts(first)[0]?.["id"] as string;
    const second = await post(server, { threadId: "t1", runId: "2", resume: resume(id) });
    expect(second.last).toMatchObject({ type: "RUN_ERROR", code: "rejected" });
    const third = await post(server, { threadId: "t1", runId: "3" });
    expect(interrupts(third).map((one) => one["id"])).toEqual([id]);
  });

  test("a question that is put off stays open", async () => {
    const server = await served();
    const first = await post(server, {
      threadId: "t1",
      runId: "1",
      messages: said("go"),
      forwardedProps: props(asks),
    });
    const id = interrupts(first)[0]?.["id"];
    const second = await post(server, {
      threadId: "t1",
      runId: "2",
      resume: [{ interruptId: id, status: "cancelled" }],
    } as never);
    expect(interrupts(second)[0]?.["id"]).toBe(id);
  });

  test("a pack with errors, or none, is refused with its reason and starts nothing", async () => {
    const server = await served();
    const bad = await post(server, { threadId: "t1", runId: "1", forwardedProps: { pack: "id: 1" } });
    expect(bad.last).toMatchObject({
      type: "RUN_ERROR",
      code: "rejected",
      metadata: { problem: "pack-invalid" },
    });
    const none = await post(server, { threadId: "t2", runId: "1" });
    expect(none.last).toMatchObject({ type: "RUN_ERROR", code: "rejected" });
    const { body } = await server.get("/api/runs");
    expect(body["items"]).toEqual([]);
  });

  test("what is no AG-UI is a problem of HTTP", async () => {
    const server = await served();
    const answer = await server.post("/agui", { threadId: 7 });
    expect(answer.status).toBe(400);
    expect(answer.body["code"]).toBe("bad-request");
  });
});

describe("a gated call", () => {
  test("asks under the call's own id, and only its result follows", async () => {
    const server = await served({ settings: { ...noSettings("."), approvals: ["look"] } });
    const first = await post(server, {
      threadId: "t1",
      runId: "1",
      messages: said("go"),
      forwardedProps: props(asks),
    });
    const [question] = interrupts(first);
    const call = first.events.find(({ type }) => type === "TOOL_CALL_START");
    expect(question).toMatchObject({ reason: "tool_call", toolCallId: call?.["toolCallId"] });
    expect(question?.["metadata"]).toMatchObject({ tool: "look", args: { where: "here" } });
    const resume = [{ interruptId: question?.["id"], status: "resolved", payload: { decision: "approve" } }];
    const second = await post(server, { threadId: "t1", runId: "2", resume } as never);
    const own = second.events.filter(({ toolCallId }) => toolCallId === call?.["toolCallId"]);
    expect(own.map(({ type, content }) => [type, content])).toEqual([["TOOL_CALL_RESULT", '{"light":"on"}']]);
    deltasAddUp(second);
  });

  test("that is rejected tells the model so", async () => {
    const server = await served({ settings: { ...noSettings("."), approvals: ["look"] } });
    const first = await post(server, {
      threadId: "t1",
      runId: "1",
      messages: said("go"),
      forwardedProps: props(asks),
    });
    const payload = { decision: "reject", reason: "not today" };
    const resume = [{ interruptId: interrupts(first)[0]?.["id"], status: "resolved", payload }];
    const second = await post(server, { threadId: "t1", runId: "2", resume } as never);
    const results = second.events.filter(({ type }) => type === "TOOL_CALL_RESULT");
    expect(String(results[0]?.["content"])).toContain("not today");
  });
});

describe("a conversation", () => {
  test("waits for a word, and takes the same word once", async () => {
    const server = await served();
    const talk = {
      states: { work: [{ text: "Hello?" }, { text: "I see.", event: "Done" }], end: [{ text: "Bye." }] },
    };
    const forwardedProps = props(talk, { mode: "conversational" });
    const first = await post(server, { threadId: "t1", runId: "1", messages: said("hi"), forwardedProps });
    expect(interrupts(first)).toMatchObject([{ reason: "input_required" }]);
    const messages = [...said("hi"), ...said("the tests", "m2")];
    const second = await post(server, { threadId: "t1", runId: "2", messages });
    expect(second.last).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
    const again = await post(server, { threadId: "t1", runId: "3", messages });
    expect(again.last).toEqual({ ...second.last, runId: again.last["runId"] });
  });
});

describe("other ends", () => {
  test("a spent budget and a cancelled run are errors with their code, after the last snapshot", async () => {
    const server = await served();
    const round = { states: { work: [{ artifacts: { note: "x" }, event: "Again" }] } };
    const forwardedProps = props(round, { budgets: { max_total_visits: 2 } });
    const spent = await post(server, { threadId: "t1", runId: "1", messages: said("go"), forwardedProps });
    expect(spent.last).toMatchObject({ type: "RUN_ERROR", code: "budget_exhausted" });
    expect(spent.types.slice(-3, -1)).toEqual(["STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"]);
    const waits = await post(server, { threadId: "t2", runId: "1", forwardedProps: props(asks) });
    const run = runOf(waits);
    await server.post(`/api/runs/${run}/cancel`, {});
    const gone = await post(server, { threadId: "t2", runId: "2" });
    expect(gone.last).toMatchObject({ type: "RUN_ERROR", code: "cancelled" });
  });
});

describe("a large result of a tool", () => {
  const result = "ä".repeat(10_000);
  const looks: JsonObject = {
    states: { work: [{ calls: [{ tool: "look", args: { where: "x" } }] }, { text: "Well?" }] },
    tools: { look: [{ ok: result }] },
  };
  const forwardedProps = props(looks, { mode: "conversational" });
  const go = { threadId: "t1", runId: "1", messages: said("go"), forwardedProps };

  test("comes by reference, and otherwise as every snapshot shows it", async () => {
    const server = await served();
    const { events } = await post(server, go);
    const told = events.find(({ type }) => type === "TOOL_CALL_RESULT");
    const { blob } = (told?.["metadata"] ?? {}) as { blob: { sha256: string; bytes: number; href: string } };
    expect(blob).toMatchObject({ bytes: 20_000, href: `/api/blobs/${blob.sha256}` });
    expect((await server.get(blob.href)).body["text"]).toBe(result);
    expect(String(told?.["content"]).length).toBeLessThan(10_000);
    const shown = events.findLast(({ type }) => type === "MESSAGES_SNAPSHOT")?.["messages"] as JsonObject[];
    expect(shown.find(({ role }) => role === "tool")?.["content"] === told?.["content"]).toBe(true);
  });

  test("comes whole to a token that may not ask for it by reference", async () => {
    const principal = { name: "writer", scopes: ["runs:write" as const] };
    const server = await served({ principalOf: () => principal, tokenNeeded: true });
    const { events } = await post(server, go, "/agui", { authorization: "Bearer abc" });
    const told = events.find(({ type }) => type === "TOOL_CALL_RESULT");
    expect(told).toMatchObject({ content: result });
    expect(told).not.toHaveProperty("metadata");
  });
});

describe("an agent's question", () => {
  test("is the page's to answer, under the step of its caller", async () => {
    const server = await served();
    const forwardedProps = { pack: withAgent, script: agentAsks };
    const first = await post(server, { threadId: "t1", runId: "1", messages: said("go"), forwardedProps });
    const [question] = interrupts(first);
    expect(question?.["id"]).toMatch(/^\d+\/\d+$/);
    const resume = [{ interruptId: question?.["id"], status: "resolved", payload: { event: "Fine" } }];
    const second = await post(server, { threadId: "t1", runId: "2", resume } as never);
    expect(second.last).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
  });
});

describe("an address of an agent", () => {
  test("starts its pack as registered last", async () => {
    const server = await served();
    const { pack: source } = start(ends) as { pack: string };
    await server.post("/api/packs", { source });
    const body = { threadId: "t1", runId: "1", messages: said("go") };
    const forwardedProps = { variables: { task: "it" }, script: ends };
    const page = await post(server, { ...body, forwardedProps }, "/agui/served/served");
    expect(page.last).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
    const none = await post(server, { ...body, threadId: "t2" }, "/agui/other/other");
    expect(none.last).toMatchObject({ type: "RUN_ERROR", metadata: { problem: "unknown-pack" } });
  });
});

describe("scopes", () => {
  test("a token that may only look starts and answers nothing", async () => {
    const principal = { name: "reader", scopes: ["runs:read" as const] };
    const server = await served({ principalOf: () => principal, tokenNeeded: true });
    const headers = { authorization: "Bearer abc" };
    const body = { threadId: "t1", runId: "1", messages: said("go"), tools: [], context: [] };
    const answer = await server.post("/agui", { ...body, forwardedProps: props(ends) }, headers);
    expect([answer.status, answer.body["code"]]).toEqual([403, "scope-missing"]);
  });
});

describe("the client of the protocol", () => {
  test("has messages and state of the run when it is done", async () => {
    const server = await served();
    const agent = new HttpAgent({ url: `${server.url}/agui`, threadId: "t9" });
    agent.messages = [{ id: "m1", role: "user", content: "go" }];
    const result: RunAgentResult = await agent.runAgent({ forwardedProps: props(ends) });
    expect(result.result).toMatchObject({ text: "Goodbye." });
    expect(agent.state).toMatchObject({ status: "completed", artifacts: { note: "two" } });
    const texts = agent.messages.filter(({ role }) => role === "assistant").map(({ content }) => content);
    expect(texts).toContain("Goodbye.");
  });
});
