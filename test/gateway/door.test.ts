// The door: triggers, jobs, events, tokens and waiting (sections 15.3 and 16).

import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { emits, gatewayFolder, nodePlugin, openGateway } from "./gateway-folder.ts";

const pipelines = [
  { name: "go", on: "go", steps: [{ id: "a", uses: "echo" }] },
  {
    name: "wait",
    on: "w",
    execution_mode: "synchronous",
    timeout: "60d",
    steps: [
      { id: "a", uses: "echo" },
      { id: "b", uses: "agent" },
    ],
  },
  {
    name: "late",
    on: "l",
    execution_mode: "synchronous",
    timeout: "50ms",
    steps: [{ id: "a", uses: "slow" }],
  },
  {
    name: "bad",
    on: "b",
    execution_mode: "synchronous",
    steps: [
      { id: "a", uses: "broken" },
      { id: "b", uses: "echo" },
    ],
  },
  { name: "claims", on: "c", steps: [{ id: "a", uses: "echo", baggage: { x: "payload.x" } }] },
];

const plugins = {
  echo: nodePlugin(`return { status: "ok", result: "echoed", events: [{ type: "echo.done", payload }] };`),
  agent: emits({ type: "agent.completed", payload: { outcome: "well" } }),
  slow: nodePlugin(
    `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400); return { status: "ok" };`,
  ),
  broken: nodePlugin(`return { status: "error", error: "no", retry: false };`),
};

const tokens = [
  { token: "all", scopes: ["*"] },
  { token: "go", scopes: ["pipeline:go"] },
  { token: "reads", scopes: ["plugin:ro", "jobs:ro"] },
  { token: "writes", scopes: ["plugin:rw"] },
  { token: "echo", scopes: ["plugin:echo:rw", "events:ro"] },
  { token: "echo-ro", scopes: ["plugin:echo:ro"] },
];

async function opened(auth: JsonObject = {}, api: JsonObject = {}) {
  const config = { api: { enabled: true, listen: "127.0.0.1:0", auth, ...api } };
  const gateway = openGateway(gatewayFolder({ plugins, pipelines, config }));
  const url = await gateway.door();
  const call = async (path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers,
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as JsonObject };
  };
  return { ...gateway, url, call };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe("triggers", () => {
  test("a pipeline gets its own event, a plugin's handle gets api.trigger, another command its payload", async () => {
    const { call, jobs, settled } = await opened();
    const first = await call("/pipeline/go", { payload: { n: 1 } });
    expect(first).toMatchObject({ status: 202, body: { status: "queued" } });
    expect((await call("/plugin/echo/handle", { payload: { n: 2 } })).status).toBe(202);
    expect((await call("/plugin/echo/health", "")).status).toBe(202);
    await settled();
    const [one, two, three] = jobs();
    expect(one).toMatchObject({ id: first.body["job_id"], pipeline: "go", stepId: "a", submittedBy: "api" });
    expect(one?.payload).toEqual({ type: "go", payload: { n: 1 }, timestamp: expect.any(String) });
    expect(two).toMatchObject({ payload: { type: "api.trigger", payload: { n: 2 } }, pipeline: null });
    expect(three).toMatchObject({ command: "health", payload: {} });
  });

  test("a key makes the second of two triggers the first one", async () => {
    const { call, jobs } = await opened();
    const first = await call("/pipeline/go", { payload: {}, dedupe_key: "k" });
    expect(await call("/pipeline/go", { payload: {}, dedupe_key: "k" })).toMatchObject({
      status: 200,
      body: { job_id: first.body["job_id"] },
    });
    expect(await call("/pipeline/go", {}, { "idempotency-key": "k" })).toMatchObject({
      status: 200,
      body: { job_id: first.body["job_id"] },
    });
    expect((await call("/pipeline/go", { dedupe_key: "k" }, { "idempotency-key": "l" })).status).toBe(409);
    expect(jobs()).toHaveLength(1);
  });

  test.each<[string, string, unknown, number, string]>([
    ["no JSON", "/pipeline/go", "{", 400, "bad-request"],
    ["no object", "/pipeline/go", "[]", 400, "bad-request"],
    ["a payload that is no object", "/pipeline/go", { payload: 1 }, 400, "bad-request"],
    [
      "too deep a body",
      "/pipeline/go",
      `{"payload":{"a":${"[".repeat(900)}${"]".repeat(900)}}}`,
      400,
      "bad-request",
    ],
    ["a key that is no text", "/pipeline/go", { dedupe_key: 1 }, 400, "bad-request"],
    ["more than 1 MiB", "/pipeline/go", { payload: { x: "x".repeat(1_048_576) } }, 413, "payload-too-large"],
    ["a pipeline that is not there", "/pipeline/none", {}, 404, "unknown-pipeline"],
    ["a plugin that is not there", "/plugin/none/handle", {}, 400, "unknown-plugin"],
    ["a command that is not there", "/plugin/echo/none", {}, 400, "unknown-command"],
    ["a claim that is missing", "/pipeline/claims", {}, 400, "baggage-missing"],
    ["a path that is not there", "/none", {}, 404, "not-found"],
  ])("%s is refused", async (_, path, body, status, code) => {
    const { call, jobs } = await opened();
    expect(await call(path, body)).toMatchObject({ status, body: { error: { code } } });
    expect(jobs()).toEqual([]);
  });
});

describe("waiting", () => {
  test("a synchronous pipeline answers with its tree, its last document, and the agent's outcome apart", async () => {
    // Longer than a timer can be.
    const { call } = await opened({}, { max_sync_timeout: "90d" });
    const { status, body } = await call("/pipeline/wait", { payload: { n: 1 } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ status: "succeeded", result: { status: "ok" } },
      outcome: { type: "agent.completed", payload: { outcome: "well" } },
      tree: [
        { plugin: "echo", status: "succeeded" },
        { plugin: "agent", status: "succeeded" },
      ],
    });
    expect(body["duration_ms"]).toBeGreaterThanOrEqual(0);
    expect(await call("/pipeline/wait?async=true", {})).toMatchObject({ status: 202 });
  });

  test("a caller whose time is over is told so, and the job goes on", async () => {
    const { call, settled } = await opened();
    expect(await call("/pipeline/late", {})).toMatchObject({ status: 202, body: { timeout_exceeded: true } });
    expect(await settled()).toMatchObject([{ status: "succeeded" }]);
  });

  test("a failure is told, without an outcome", async () => {
    const { call } = await opened();
    expect((await call("/pipeline/bad", {})).body).toMatchObject({
      status: "failed",
      result: null,
      outcome: null,
    });
  });

  test("only so many may wait at once", async () => {
    const { call } = await opened({}, { max_concurrent_sync: 0 });
    expect(await call("/pipeline/wait", {})).toMatchObject({
      status: 503,
      body: { error: { code: "too-many-waiting" } },
    });
  });
});

describe("looking", () => {
  test("at a job and what it led to", async () => {
    const { call, settled } = await opened();
    const { body } = await call("/pipeline/wait?async=true", {});
    await settled();
    const id = body["job_id"] as string;
    expect(await call(`/job/${id}`)).toMatchObject({
      status: 200,
      body: { id, status: "succeeded", attempt: 1 },
    });
    const { body: tree } = await call(`/job/${id}/tree`);
    expect(tree["tree"]).toMatchObject([{ id }, { parent_job_id: id }]);
    expect((await call("/job/none")).status).toBe(404);
    expect((await call("/job/none/tree")).status).toBe(404);
    expect((await call("/healthz")).body).toMatchObject({ status: "ok", queue_depth: 0, plugins_loaded: 4 });
  });

  test("at events as they happen, and at those that were missed", async () => {
    const { call, url, settled } = await opened();
    await call("/pipeline/go", {});
    await settled();
    const stop = new AbortController();
    const response = await fetch(`${url}/events`, { headers: { "last-event-id": "0" }, signal: stop.signal });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    const until = async (pattern: RegExp) => {
      while (!pattern.test(text)) text += new TextDecoder().decode((await reader.read()).value);
    };
    await until(/event: job.completed/);
    const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(names.filter((name) => name !== "scheduler.tick")).toEqual([
      "job.enqueued",
      "job.started",
      "plugin.spawned",
      "job.completed",
    ]);
    await call("/pipeline/bad?async=true", {});
    await until(/event: job.failed/);
    const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    stop.abort();
  });

  test("tells nothing of a job that is not on the disk yet", async () => {
    const { call, url, file, settled } = await opened();
    const { body } = await call("/pipeline/go", {});
    await settled();
    await file.durable();
    let isKept = false;
    file.durable = async () => {
      await new Promise(setImmediate);
      isKept = true;
    };
    const { body: events } = await fetch(`${url}/events`, { headers: { "last-event-id": "0" } });
    const reader = (events as ReadableStream<Uint8Array>).getReader();
    let text = "";
    while (!text.includes("event:")) text += new TextDecoder().decode((await reader.read()).value);
    expect(isKept).toBe(true);
    await reader.cancel();
    file.durable = () => Promise.reject(new Error("the disk is gone"));
    const id = String(body["job_id"]);
    for (const path of [`/job/${id}`, `/job/${id}/tree`]) expect((await call(path)).status, path).toBe(500);
  });
});

describe("tokens (X3):", () => {
  test.each([
    ["none", undefined, "/pipeline/go", 401],
    ["an unknown one", "guess", "/pipeline/go", 401],
    ["every right", "all", "/pipeline/go", 202],
    ["the pipeline", "go", "/pipeline/go", 202],
    ["another pipeline", "go", "/pipeline/claims", 403],
    ["the pipeline, for a plugin", "go", "/plugin/echo/handle", 403],
    ["reading, for a command that reads", "reads", "/plugin/echo/health", 202],
    ["reading, for one that writes", "reads", "/plugin/echo/handle", 403],
    ["writing, for one that writes", "writes", "/plugin/echo/handle", 202],
    ["writing, for one that reads", "writes", "/plugin/echo/health", 202],
    ["writing, for a pipeline", "writes", "/pipeline/go", 202],
    ["one plugin's", "echo", "/plugin/echo/handle", 202],
    ["one plugin's, for another", "echo", "/plugin/slow/handle", 403],
    ["one plugin's reading", "echo-ro", "/plugin/echo/health", 202],
    ["one plugin's reading, to write", "echo-ro", "/plugin/echo/handle", 403],
    ["an unknown plugin, without the right", "reads", "/plugin/none/handle", 403],
  ])("%s", async (_, token, path, status) => {
    const { call } = await opened({ tokens });
    const headers = token === undefined ? {} : bearer(token);
    expect((await call(path, {}, headers)).status).toBe(status);
  });

  test("jobs and events have scopes of their own, health has none, and no token is logged", async () => {
    const { call, url, logged } = await opened({ tokens, api_key: "one-for-all" });
    expect((await call("/job/none", undefined, bearer("reads"))).status).toBe(404);
    expect((await call("/job/none", undefined, bearer("go"))).status).toBe(403);
    expect((await fetch(`${url}/events`, { headers: bearer("reads") })).status).toBe(403);
    const stream = await fetch(`${url}/events`, { headers: bearer("echo") });
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
    expect((await call("/healthz")).status).toBe(200);
    expect((await call("/pipeline/go", {}, bearer("one-for-all"))).status).toBe(202);
    expect(JSON.stringify(logged)).not.toMatch(/one-for-all|"guess"/);
  });

  test("a page of another site is turned away, with or without tokens", async () => {
    const { call, jobs } = await opened();
    expect((await call("/pipeline/go", {}, { origin: "http://evil.test" })).status).toBe(403);
    expect((await call("/pipeline/go", {}, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect(jobs()).toEqual([]);
  });

  test("an address that is taken is a fault with a name", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as { port: number };
    const config = { api: { enabled: true, listen: `127.0.0.1:${port}` } };
    const gateway = openGateway(gatewayFolder({ plugins, pipelines, config }));
    await expect(gateway.door()).rejects.toMatchObject({ code: "cannot-listen" });
    taken.close();
  });
});
