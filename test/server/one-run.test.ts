// One run seen from everywhere: the conditions a run can be in, and what each protocol says of every one of
// them.

import { type Task, TaskState } from "@a2a-js/sdk";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import type { RunPorts } from "../../src/engine/dispatcher.ts";
import { Fault } from "../../src/engine/ports.ts";
import { asking, clientOf, datas, ending, message, send, servedDesk, text } from "./a2a-served.ts";
import { checked, interrupts, openPage, post, said } from "./agui-page.ts";
import { callTool, rpc } from "./mcp-rpc.ts";
import {
  allAre,
  eventsOf,
  leads,
  mcpTaskOf,
  nested,
  type Scene,
  type SceneOptions,
  scene,
  TASKS_AND_FORMS,
  taskOf,
} from "./one-run-scene.ts";

const stamps: JsonObject = {
  states: {
    work: [{ calls: [{ tool: "stamp", args: { on: "it" } }] }, { event: "Done" }],
    end: [{ text: "Goodbye." }],
  },
  tools: { stamp: [{ ok: "stamped" }] },
};

const toolOf = (call: RunPorts["tools"]["call"]): RunPorts["tools"] => ({
  ...{ knows: () => true, isSafe: () => false, call },
});

const lost = toolOf(() => Promise.reject(new Fault("cut", "the line was cut", { retry: "unknown" })));
const later = toolOf(async () => ({ deferred: true }));
const locked = toolOf(async () => ({
  ...{ deferred: true, looks: true, until: Date.now() + 3_600_000, handle: null },
  question: { text: "Log in.", schema: { type: "boolean" }, auth: true },
}));

const waits = ({ status }: Summary): boolean => status === "waiting";
const isWaiting =
  (kind: string) =>
  ({ waiting_for: open }: Summary): boolean =>
    open.some((one) => one.kind === kind);

const { TASK_STATE_INPUT_REQUIRED: INPUT, TASK_STATE_WORKING: WORKING } = TaskState;
const { TASK_STATE_FAILED: FAILED, TASK_STATE_COMPLETED: COMPLETED } = TaskState;

interface Row {
  readonly condition: string;
  readonly given: SceneOptions;
  readonly until: (summary: Summary) => boolean;
  /** Said to each run then. */
  readonly told?: string;
  readonly a2a: { readonly state: TaskState; readonly metadata?: JsonObject; readonly asked?: JsonObject };
  readonly mcp: JsonObject;
  /** The event that ends the stretch; null where it goes on. */
  readonly agui: JsonObject | null;
  readonly event: readonly [type: string, data: JsonObject];
}

const asked = (fields: JsonObject): JsonObject => ({
  status: "input_required",
  inputRequests: expect.objectContaining({}),
  requested: fields,
});
const interrupt = (one: JsonObject): JsonObject => ({
  type: "RUN_FINISHED",
  outcome: { type: "interrupt", interrupts: [one] },
});
const failed = (code: string): JsonObject => ({ type: "RUN_ERROR", code });

const ROWS: readonly Row[] = [
  {
    condition: "running",
    given: { script: ending, stuckAt: 2 },
    until: ({ turns }) => turns > 1,
    a2a: { state: WORKING },
    mcp: { status: "working" },
    agui: null,
    event: ["workflow.transitioned", { event: "Again", to: "work", visit: 2 }],
  },
  {
    condition: "waiting for an event",
    given: { script: asking },
    until: waits,
    a2a: { state: INPUT, metadata: { reason: "event" }, asked: { kind: "event", events: ["Yes", "No"] } },
    mcp: asked({ event: { enum: ["Yes", "No"] }, context: { type: "string" } }),
    agui: interrupt({
      reason: "input_required",
      responseSchema: { properties: { event: { enum: ["Yes", "No"] } } },
    }),
    event: ["workflow.waiting", { for: "event", events: ["Yes", "No"] }],
  },
  {
    condition: "waiting for a message",
    given: { script: { states: { work: [{ text: "Hello?" }] } }, mode: "conversational" },
    until: waits,
    a2a: { state: INPUT, metadata: { reason: "message" }, asked: { kind: "message" } },
    mcp: asked({ text: { type: "string" } }),
    agui: interrupt({ reason: "input_required", responseSchema: { required: ["text"] } }),
    event: ["workflow.waiting", { for: "message" }],
  },
  {
    condition: "waiting for an approval",
    given: { script: stamps, approvals: ["stamp"] },
    until: waits,
    a2a: {
      state: INPUT,
      metadata: { reason: "approval" },
      asked: {
        kind: "approval",
        tool: "stamp",
        args: { on: "it" },
        sha256: expect.stringMatching(/^\w{64}$/),
      },
    },
    mcp: asked({ decision: { enum: ["approve", "edit", "reject"] } }),
    agui: interrupt({ reason: "tool_call", toolCallId: expect.stringContaining("/") }),
    event: ["approval.requested", { tool: "stamp", sha256: expect.stringMatching(/^\w{64}$/) }],
  },
  {
    condition: "in doubt about a call",
    given: { script: stamps, tools: lost },
    until: waits,
    a2a: { state: INPUT, metadata: { reason: "in_doubt" }, asked: { kind: "in_doubt", tool: "stamp" } },
    mcp: asked({ decision: { enum: ["retry", "result", "abort"] } }),
    agui: interrupt({ reason: "packloop:in_doubt" }),
    event: ["run.attention", { reason: "in_doubt" }],
  },
  {
    condition: "waiting for a tool that answers later",
    given: { script: stamps, tools: later },
    until: isWaiting("answer"),
    a2a: { state: WORKING },
    mcp: { status: "working", statusMessage: expect.stringContaining("stamp") },
    agui: null,
    event: ["workflow.waiting", { for: "answer" }],
  },
  {
    condition: "without the key of its model",
    given: { script: ending, keyless: true },
    until: ({ held }) => held !== null,
    a2a: {
      state: TaskState.TASK_STATE_AUTH_REQUIRED,
      metadata: { reason: "auth_required", held: { by: "packloop" } },
      asked: { kind: "answer", text: expect.stringContaining("set A_KEY") },
    },
    mcp: asked({ answer: { type: "boolean" } }),
    agui: interrupt({ reason: "packloop:auth_required", responseSchema: { const: true } }),
    event: ["run.attention", { reason: "auth_required" }],
  },
  {
    condition: "waiting for somebody to authorise a tool elsewhere",
    given: { script: stamps, tools: locked },
    until: waits,
    a2a: { state: TaskState.TASK_STATE_AUTH_REQUIRED, metadata: { reason: "auth_required" } },
    mcp: asked({ answer: { type: "boolean" } }),
    agui: interrupt({ reason: "packloop:auth_required" }),
    event: ["run.attention", { reason: "auth_required", step: expect.any(Number) }],
  },
  {
    condition: "held",
    given: { script: ending, stuckAt: 2 },
    until: ({ turns }) => turns > 1,
    told: "pause",
    a2a: { state: WORKING, metadata: { held: { by: "api" } } },
    mcp: { status: "working", statusMessage: expect.stringContaining("held by api") },
    agui: null,
    event: ["run.held", { by: "api" }],
  },
  {
    condition: "completed",
    given: { script: ending },
    until: ({ status }) => status === "completed",
    a2a: { state: COMPLETED, metadata: { outcome: "completed" } },
    mcp: { status: "completed", result: { structuredContent: { status: "completed" } } },
    agui: { type: "RUN_FINISHED", outcome: { type: "success" }, result: { text: "Goodbye." } },
    event: ["workflow.completed", { status: "completed" }],
  },
  {
    condition: "out of budget",
    given: { script: { states: { work: [{ artifacts: { log: "more" }, event: "Again" }] } } },
    until: ({ status }) => status === "budget_exhausted",
    a2a: { state: FAILED, metadata: { outcome: "budget_exhausted", limit: "max_total_visits" } },
    mcp: {
      status: "completed",
      result: { isError: true, structuredContent: { status: "budget_exhausted" } },
    },
    agui: failed("budget_exhausted"),
    event: ["workflow.budget_exhausted", { reason: { limit: "max_total_visits" } }],
  },
  {
    condition: "failed",
    given: { script: { states: { work: [{ fail: { status: 400 } }] } } },
    until: ({ status }) => status === "failed",
    a2a: { state: FAILED, metadata: { outcome: "failed" } },
    mcp: { status: "completed", result: { isError: true, structuredContent: { status: "failed" } } },
    agui: failed("failed"),
    event: ["workflow.failed", { status: "failed" }],
  },
];

const waitsOf = ({ status }: Task): JsonObject =>
  (datas(status?.message?.parts)[0]?.["waiting_for"] as unknown as [JsonObject] | undefined)?.[0] ?? {};

/** The fields of the one form that a task asks with, beside the task. */
function requested(task: JsonObject): JsonObject {
  const [form] = Object.values((task["inputRequests"] ?? {}) as JsonObject) as unknown as [
    { params: { requestedSchema: { properties: JsonObject } } } | undefined,
  ];
  return form === undefined ? task : { ...task, requested: form.params.requestedSchema.properties };
}

describe.each(ROWS)("a run that is $condition", ({ given, until, told, a2a, mcp, agui, event }) => {
  const set = async (): Promise<Scene> => {
    const all = await scene(given);
    await allAre(all, until);
    for (const run of told === undefined ? [] : all.runs)
      await all.server.post(`/api/runs/${run}/${told}`, {});
    return all;
  };

  test("is the same to all of them", async () => {
    const all = await set();
    const task = await taskOf(all);
    expect(task.status?.state).toBe(a2a.state);
    expect(task.metadata).toMatchObject(a2a.metadata ?? {});
    expect(waitsOf(task)).toMatchObject(a2a.asked ?? {});
    expect(requested(await mcpTaskOf(all))).toMatchObject(mcp);
    const { page } = all.agui;
    if (agui === null) await all.server.post(`/api/runs/${all.agui.run}/cancel`, {});
    const stretch = await page.done;
    await checked(stretch);
    expect(stretch.last).toMatchObject(agui ?? failed("cancelled"));
    if (agui === null) expect(stretch.types).not.toContain("RUN_FINISHED");
    expect(stretch.types).toEqual(expect.arrayContaining(["STEP_STARTED", "STEP_FINISHED"]));
    for (const run of all.runs) {
      const events = await eventsOf(all.server, run);
      expect(events[0]).toMatchObject({ type: "workflow.started", source: `/runs/${run}` });
      const [type, data] = event;
      const last = events.findLast((one) => one.type === type);
      expect(last?.data).toMatchObject({ run, ...data });
    }
  });
});

test("a run that was accepted is submitted, working, and begun", async () => {
  const all = await scene({ script: ending, stuckAt: 1 });
  expect((await taskOf(all)).status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
  expect(await mcpTaskOf(all)).toMatchObject({ status: "working" });
  const [first] = await eventsOf(all.server, all.runs[0] ?? "");
  expect(first?.type).toBe("workflow.started");
});

test("a run that each protocol cancels in its own way is cancelled to all of them", async () => {
  const all = await scene({ script: asking });
  await allAre(all, waits);
  const cancelled = await all.a2a.client.cancelTask({ tenant: "", id: all.a2a.run, metadata: undefined });
  expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  await rpc(all.server.url, "tasks/cancel", { taskId: all.mcp.task }, { capabilities: TASKS_AND_FORMS });
  expect(await mcpTaskOf(all)).toMatchObject({ status: "cancelled" });
  await all.server.post(`/api/runs/${all.agui.run}/cancel`, {});
  const page = await post(all.server, { threadId: "t1", runId: "2" });
  expect(page.last).toMatchObject(failed("cancelled"));
  for (const run of all.runs) {
    const events = await eventsOf(all.server, run);
    expect(events.filter(({ type }) => type === "workflow.cancelled")).toHaveLength(1);
  }
});

test("a start that is refused is told with its reason, and nothing is started", async () => {
  const server = await servedDesk();
  const client = await clientOf(server);
  const task = (await client.sendMessage(send(message([text("Please.")])))) as Task;
  expect(task.status?.state).toBe(TaskState.TASK_STATE_REJECTED);
  expect(datas(task.status?.message?.parts)).toMatchObject([{ code: "variable-invalid", errors: [{}] }]);
  const { result } = await callTool(server.url, "agent_desk_clerk", { variables: {} });
  expect(result).toMatchObject({ isError: true });
  expect(JSON.stringify(result["content"])).toContain("variable-invalid");
  const page = await post(
    server,
    { threadId: "t1", runId: "1", messages: said("Please.") },
    "/agui/desk/clerk",
  );
  expect(page.last).toMatchObject({
    ...{ type: "RUN_ERROR", code: "rejected" },
    metadata: { problem: "variable-invalid", errors: [{}] },
  });
  expect((await server.get("/api/runs")).body["items"]).toEqual([]);
});

describe("the question of an agent that a run has called", () => {
  const set = async (): Promise<Scene> => {
    const all = await scene({ script: leads, pack: nested });
    await allAre(all, waits);
    return all;
  };
  const childOf = ({ runs }: Scene, index: number, id: unknown): string =>
    `${runs[index]}/${String(id).split("/")[0]}`;

  test("is asked in each protocol, with who called it, and answered there, again and again", async () => {
    const all = await set();
    const { client, run } = all.a2a;
    const first = waitsOf(await taskOf(all));
    const child = childOf(all, 0, first["question"]);
    expect(first).toMatchObject({ kind: "event", run: child, parent: { run, step: expect.any(Number) } });
    const say = (word: string) =>
      client.sendMessage(send(message([text(word)], { taskId: run }))) as Promise<Task>;
    const second = await say("More");
    expect(second.status?.state).toBe(INPUT);
    expect(waitsOf(second)["question"]).not.toBe(first["question"]);
    expect((await say("Yes")).status?.state).toBe(COMPLETED);

    const answer = async (event: string): Promise<void> => {
      const [key = ""] = Object.keys((await mcpTaskOf(all))["inputRequests"] as JsonObject);
      const inputResponses = { [key]: { action: "accept", content: { event } } };
      const params = { taskId: all.mcp.task, inputResponses };
      await rpc(all.server.url, "tasks/update", params, { capabilities: TASKS_AND_FORMS });
    };
    const before = (await mcpTaskOf(all))["inputRequests"];
    await answer("More");
    expect(await mcpTaskOf(all)).toMatchObject({ status: "input_required" });
    expect((await mcpTaskOf(all))["inputRequests"]).not.toEqual(before);
    await answer("Yes");
    await all.server.until(all.mcp.run, ({ status }) => status === "completed");
    expect(await mcpTaskOf(all)).toMatchObject({ status: "completed" });

    let page = await all.agui.page.done;
    for (const event of ["More", "More", "Yes"]) {
      const [question] = interrupts(page);
      expect(question?.["metadata"]).toMatchObject({ parent: { run: all.agui.run } });
      const resume = [{ interruptId: question?.["id"] ?? "", status: "resolved", payload: { event } }];
      page = await post(all.server, { threadId: "t1", runId: event, resume });
    }
    expect(page.last).toMatchObject({ outcome: { type: "success" } });
  });

  test("reaches those who follow the task when another question comes without a turn of the task", async () => {
    const all = await set();
    const { client, run } = all.a2a;
    const questions: unknown[] = [];
    const stream = client.resubscribeTask({ tenant: "", id: run });
    for await (const { payload } of stream) {
      if (payload?.$case !== "task" && payload?.$case !== "statusUpdate") continue;
      const { status } = payload.value;
      const parts = status?.message?.parts;
      const id = (datas(parts)[0]?.["waiting_for"] as unknown as [JsonObject] | undefined)?.[0]?.["question"];
      if (id === undefined || questions.at(-1) === id) continue;
      questions.push(id);
      const word = questions.length < 3 ? "More" : "Yes";
      await client.sendMessage(send(message([text(word)], { taskId: run })));
    }
    expect(new Set(questions).size).toBe(3);
  });

  test("is told by the events of its run, which name who called it", async () => {
    const all = await set();
    const child = childOf(all, 0, waitsOf(await taskOf(all))["question"]);
    const events = await eventsOf(all.server, child);
    expect(events.map(({ type }) => type)).toContain("workflow.waiting");
    for (const event of events) expect(event["parent"]).toBe(child);
    const { body } = await all.server.get(`/api/runs/${encodeURIComponent(child)}`);
    expect(body["parent"]).toMatchObject({ run: all.a2a.run });
    const { result } = await callTool(all.server.url, "get_run", { run: child });
    expect(result["structuredContent"]).toMatchObject({ parent: { run: all.a2a.run } });
    const opened = await openPage(all.server, { threadId: child, runId: "9" });
    expect((await opened.first("RUN_STARTED"))["metadata"]).toMatchObject({ parent: { run: all.a2a.run } });
    opened.close();
  });

  test("leaves a fork readable that was made after it was answered", async () => {
    const all = await set();
    const { run, client } = all.a2a;
    await client.sendMessage(send(message([text("Yes")], { taskId: run })));
    const { turns } = await all.server.until(run, ({ status }) => status === "completed");
    // The agent has answered; where it asked, the fork's own history names an agent that is not there.
    const { body } = await all.server.post(`/api/runs/${run}/fork`, { turn: turns - 2 });
    const fork = await client.getTask({ tenant: "", id: String(body["run"]) });
    expect(fork.metadata).toMatchObject({ forked_from: { run } });
  });
});

test("a fork says in every protocol where it is from", async () => {
  const all = await scene({ script: asking });
  await allAre(all, waits);
  const origin = all.a2a.run;
  const { body } = await all.server.post(`/api/runs/${origin}/fork`, { turn: 2 });
  const run = String(body["run"]);
  await all.server.until(run, waits);
  const from = { run: origin, turn: 2 };
  const task = await all.a2a.client.getTask({ tenant: "", id: run });
  expect(task.metadata).toMatchObject({ forked_from: from });
  const page = await post(all.server, { threadId: run, runId: "1" });
  expect(page.events[0]).toMatchObject({ parentRunId: `${origin}.2`, metadata: { forked_from: from } });
  const answer = { run, name: "No", wait: true };
  const { result } = await callTool(all.server.url, "send_event", answer, { capabilities: TASKS_AND_FORMS });
  const seen =
    result["resultType"] === "complete"
      ? result
      : (await callTool(all.server.url, "get_run", { run })).result;
  expect(seen["structuredContent"]).toMatchObject({ forked_from: from });
  for (const event of (await eventsOf(all.server, run)).slice(-1))
    expect(event["forkedfrom"]).toBe(`${origin}/2`);
});
