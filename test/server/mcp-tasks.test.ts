// Runs that take longer than a call: tasks of clients that know them, and what the others are told.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { RunPorts } from "../../src/engine/dispatcher.ts";
import type { Clock } from "../../src/engine/ports.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { principalOf, tokenOf } from "./callers.ts";
import { changedWorlds } from "./changed-worlds.ts";
import { callTool, type RpcAnswer, rpc, WITH_FORMS, WITH_TASKS } from "./mcp-rpc.ts";
import { asks, start } from "./sample-pack.ts";
import { type Served, type ServeOptions, served } from "./served.ts";

/** Every wait of the server is over at once, and no other is. */
function hurried(): Clock {
  const clock = systemClock();
  return { ...clock, sleep: (ms, signal) => clock.sleep(ms === 2_000 || ms === 30_000 ? 50 : ms, signal) };
}

/** A server whose tool answers when the test says so. */
function held(): { readonly options: ServeOptions; readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const call = async () => {
    await promise;
    return { ok: true, value: "bright" } as const;
  };
  const tools = { knows: () => true, isSafe: () => true, call };
  return {
    options: { ...changedWorlds((ports) => ({ ...ports, tools })), clock: hurried() },
    release: resolve,
  };
}

const BOTH = { ...WITH_TASKS, ...WITH_FORMS };
const taskOf = ({ result }: RpcAnswer): string => String(result["taskId"]);
const get = (url: string, taskId: string, capabilities: JsonObject = BOTH) =>
  rpc(url, "tasks/get", { taskId }, { capabilities });

async function newTask({ url }: Served, capabilities: JsonObject = BOTH): Promise<string> {
  const answer = await callTool(url, "start_run", start(asks), { capabilities });
  expect(answer.result["resultType"]).toBe("task");
  return taskOf(answer);
}

const runOf = (task: string): string => task.split(".")[0] ?? "";

describe("a call that takes long", () => {
  test("becomes a task that can be looked at at once", async () => {
    const { options, release } = held();
    const server = await served(options);
    const answer = await callTool(server.url, "start_run", start(asks), { capabilities: BOTH });
    const { result } = answer;
    expect(result).toMatchObject({
      resultType: "task",
      status: "working",
      ttlMs: null,
      pollIntervalMs: 1_000,
      createdAt: expect.stringMatching(/^\d{4}-/),
      lastUpdatedAt: expect.stringMatching(/^\d{4}-/),
    });
    expect(taskOf(answer)).toMatch(/^r_[0-9a-z]{16}\.[0-9a-f]{32}$/);
    for (const name of ["result", "error", "inputRequests", "requestState", "task"])
      expect(result).not.toHaveProperty(name);
    const { result: seen } = await get(server.url, taskOf(answer));
    expect(seen).toMatchObject({ resultType: "complete", taskId: taskOf(answer), status: "working" });
    expect(seen["statusMessage"]).toContain("running in work");
    release();
  });

  test("is answered with how far the run is where the client knows no tasks", async () => {
    const { options, release } = held();
    const server = await served(options);
    const { result } = await callTool(server.url, "start_run", start(asks));
    expect(result).toMatchObject({ resultType: "complete", structuredContent: { status: "running" } });
    release();
    const { run } = result["structuredContent"] as { readonly run: string };
    await server.until(run, ({ status }) => status === "waiting");
    const later = await callTool(server.url, "send_event", { run, name: "Yes" });
    expect(later.result).toMatchObject({ structuredContent: { status: "completed" } });
  });
});

describe("a task", () => {
  test("asks the user, goes on with the answer and ends with the run's result", async () => {
    const { options, release } = held();
    const server = await served(options);
    const task = await newTask(server);
    release();
    await server.until(runOf(task), ({ status }) => status === "waiting");
    const { result: waits } = await get(server.url, task);
    expect(waits["status"]).toBe("input_required");
    expect(waits).not.toHaveProperty("requestState");
    const [key = ""] = Object.keys(waits["inputRequests"] as JsonObject);
    expect(waits["inputRequests"]).toMatchObject({
      [key]: { method: "elicitation/create", params: { requestedSchema: { required: ["event"] } } },
    });
    const inputResponses = {
      [key]: { action: "accept", content: { event: "Yes" } },
      other: { action: "accept", content: {} },
    };
    const params = { taskId: task, inputResponses };
    const told = await rpc(server.url, "tasks/update", params, { capabilities: BOTH });
    expect(told.result).toMatchObject({ resultType: "complete" });
    await server.until(runOf(task), ({ status }) => status === "completed");
    const { result: ended } = await get(server.url, task);
    expect(ended).toMatchObject({
      status: "completed",
      result: { structuredContent: { status: "completed", output: { text: "Goodbye." } } },
    });
    expect(ended).not.toHaveProperty("inputRequests");
    // Said again it changes nothing.
    const again = await rpc(server.url, "tasks/update", params, { capabilities: BOTH });
    expect(again.error).toBeUndefined();
  });

  test("that asks two things goes on asking the one that was not answered", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const tools: RunPorts["tools"] = {
      knows: () => true,
      isSafe: () => true,
      async call(_tool, _args, { input }) {
        await promise;
        if (input === undefined) return { deferred: true, question: { text: "Well?" }, handle: {} };
        return { ok: true, value: input };
      },
    };
    const server = await served({ ...changedWorlds((ports) => ({ ...ports, tools })), clock: hurried() });
    const look = { tool: "look", args: { where: "here" } };
    const script = {
      states: { work: [{ calls: [look, look] }, { event: "Ask" }], gate: [{ text: "Well?" }] },
    };
    const task = taskOf(await callTool(server.url, "start_run", start(script), { capabilities: BOTH }));
    resolve();
    await server.until(runOf(task), ({ status }) => status === "waiting");
    const keys = async () => Object.keys((await get(server.url, task)).result["inputRequests"] as JsonObject);
    const [first = "", second = ""] = await keys();
    const say = (key: string) => {
      const inputResponses = { [key]: { action: "accept", content: { answer: "fine" } } };
      return rpc(server.url, "tasks/update", { taskId: task, inputResponses }, { capabilities: BOTH });
    };
    await say(first);
    expect(await keys()).toEqual([second]);
    await say(second);
    await server.until(runOf(task), ({ state }) => state === "gate");
  });

  test("of a client without forms says what is wanted and goes on when it comes another way", async () => {
    const { options, release } = held();
    const server = await served(options);
    const task = await newTask(server, WITH_TASKS);
    release();
    await server.until(runOf(task), ({ status }) => status === "waiting");
    const { result } = await get(server.url, task, WITH_TASKS);
    expect(result).toMatchObject({ status: "working", statusMessage: expect.stringContaining("Yes or No") });
    await callTool(server.url, "send_event", { run: runOf(task), name: "Yes" });
    expect((await get(server.url, task, WITH_TASKS)).result["status"]).toBe("completed");
  });

  test("that is cancelled cancels the run, and can be cancelled again", async () => {
    const { options, release } = held();
    const server = await served(options);
    const task = await newTask(server);
    for (const _time of [1, 2]) {
      const { result } = await rpc(server.url, "tasks/cancel", { taskId: task }, { capabilities: BOTH });
      expect(result["resultType"]).toBe("complete");
      expect(result).not.toHaveProperty("status");
    }
    const { result } = await get(server.url, task);
    expect(result["status"]).toBe("cancelled");
    expect(result).not.toHaveProperty("result");
    release();
  });

  test("of a run that runs out of its budget has ended with an error of the tool", async () => {
    const { options, release } = held();
    const server = await served(options);
    const body = start(asks, { budgets: { max_model_calls: 1 } });
    const answer = await callTool(server.url, "start_run", body, { capabilities: BOTH });
    release();
    await server.until(runOf(taskOf(answer)), ({ status }) => status === "budget_exhausted");
    const { result } = await get(server.url, taskOf(answer));
    expect(result).toMatchObject({
      status: "completed",
      result: { isError: true, structuredContent: { reason: { limit: "max_model_calls" } } },
    });
  });

  test("is known to the server that takes the store over", async () => {
    const { options, release } = held();
    const before = await served(options);
    const task = await newTask(before);
    release();
    await before.until(runOf(task), ({ status }) => status === "waiting");
    await before.stop();
    const after = await served({ folder: before.folder });
    expect((await get(after.url, task)).result["status"]).toBe("input_required");
  });

  test("is nobody else's, and cannot be guessed from its run", async () => {
    const { options, release } = held();
    const { url } = await served({ ...options, tokenNeeded: true, principalOf });
    const headers = { authorization: `Bearer ${tokenOf("admin")}` };
    const answer = await callTool(url, "start_run", start(asks), { capabilities: BOTH, headers });
    const task = taskOf(answer);
    const as = (taskId: string, token: string, method: string) =>
      rpc(
        url,
        method,
        { taskId, inputResponses: {} },
        {
          capabilities: BOTH,
          headers: { authorization: `Bearer ${token}` },
        },
      );
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      expect((await as(task, tokenOf("runs:write"), method)).error).toMatchObject({ code: -32602 });
      expect((await as(runOf(task), tokenOf("admin"), method)).error).toMatchObject({ code: -32602 });
      expect((await as(`${runOf(task)}.${"0".repeat(32)}`, tokenOf("admin"), method)).error).toMatchObject({
        code: -32602,
      });
    }
    expect((await as(task, tokenOf("admin"), "tasks/get")).result["status"]).toBe("working");
    release();
  });

  test("has no methods of the older extension, and none without the declaration", async () => {
    const { url } = await served();
    for (const method of ["tasks/list", "tasks/result"])
      expect((await rpc(url, method, { taskId: "x" }, { capabilities: BOTH })).error).toMatchObject({
        code: -32601,
      });
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const { error } = await rpc(url, method, { taskId: "x", inputResponses: {} });
      expect(error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { extensions: WITH_TASKS["extensions"] as JsonObject } },
      });
    }
  });
});
