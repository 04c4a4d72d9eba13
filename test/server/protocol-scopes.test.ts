// Who may do what in each protocol: a token needs the least scope of what it asks for, and no way of asking
// needs less than another.

import { TaskState } from "@a2a-js/sdk";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { type Principal, SCOPES, type Scope } from "../../src/server/scope.ts";
import { rpc as a2aRpc, asking, servedDesk } from "./a2a-served.ts";
import { openPage, runOf, said } from "./agui-page.ts";
import { bearer, principalOf } from "./callers.ts";
import { callTool, rpc, WITH_FORMS } from "./mcp-rpc.ts";
import type { Served } from "./served.ts";

type Headers = Readonly<Record<string, string>>;

interface Place {
  readonly server: Served;
  /** A task that waits: for an event, or for an approval. */
  readonly run: string;
}

/** Whether it was let do it. */
type Attempt = (place: Place, headers: Headers) => Promise<boolean>;

const wire = (more: JsonObject): JsonObject => ({
  ...{ messageId: crypto.randomUUID(), role: "ROLE_USER" },
  parts: [{ text: "Please." }, { data: { who: "Ada" } }],
  ...more,
});

const a2a =
  (method: string, params: (run: string) => JsonObject): Attempt =>
  async ({ server, run }, headers) => {
    const asked = { jsonrpc: "2.0", id: 1, method, params: params(run) };
    const { status, body } = await a2aRpc(server, asked, headers);
    if (status === 403) return false;
    expect(body["error"], JSON.stringify(body)).toBeUndefined();
    return true;
  };

const mcp =
  (name: string, args: (run: string) => JsonObject): Attempt =>
  async ({ server, run }, headers) => {
    const { result, error } = await callTool(server.url, name, args(run), { headers });
    if (String(error?.["message"]).includes("not a tool of yours")) return false;
    if (JSON.stringify(result["content"] ?? "").includes("scope-missing")) return false;
    expect([error, result["isError"]]).toEqual([undefined, undefined]);
    return true;
  };

const agui =
  (body: (run: string) => JsonObject): Attempt =>
  async ({ server, run }, headers) => {
    const options = { path: "/agui/desk/clerk", headers };
    const page = await openPage(server, { runId: "1", ...body(run) }, options);
    page.close();
    expect([200, 403]).toContain(page.status);
    return page.status === 200;
  };

const yes = (run: string) => ({ taskId: run, parts: [{ data: { event: "Yes" } }] });
const fresh = () => ({
  ...{ threadId: crypto.randomUUID(), messages: said("Please.") },
  forwardedProps: { variables: { who: "Ada" } },
});

const WRITE: readonly Scope[] = ["runs:write"];
const READ: readonly Scope[] = ["runs:read"];
const SEND: readonly Scope[] = ["events:send"];

const EVENTS: readonly (readonly [string, readonly Scope[], Attempt])[] = [
  ["A2A SendMessage that starts", WRITE, a2a("SendMessage", () => ({ message: wire({}) }))],
  ["A2A SendMessage that replies", SEND, a2a("SendMessage", (run) => ({ message: wire(yes(run)) }))],
  ["A2A GetTask", READ, a2a("GetTask", (id) => ({ id }))],
  ["A2A ListTasks", READ, a2a("ListTasks", () => ({}))],
  ["A2A CancelTask", WRITE, a2a("CancelTask", (id) => ({ id }))],
  ["A2A GetExtendedAgentCard", [...READ, ...WRITE], a2a("GetExtendedAgentCard", () => ({}))],
  [
    "A2A ListTaskPushNotificationConfigs",
    READ,
    a2a("ListTaskPushNotificationConfigs", (taskId) => ({ taskId })),
  ],
  [
    "A2A CreateTaskPushNotificationConfig",
    [],
    a2a("CreateTaskPushNotificationConfig", (taskId) => ({ taskId, url: "https://example.org/" })),
  ],
  ["MCP start_run", WRITE, mcp("agent_desk_clerk", () => ({ variables: { who: "Ada" } }))],
  ["MCP get_run", READ, mcp("get_run", (run) => ({ run }))],
  ["MCP list_runs", READ, mcp("list_runs", () => ({}))],
  ["MCP send_event", SEND, mcp("send_event", (run) => ({ run, name: "Yes" }))],
  ["MCP cancel_run", WRITE, mcp("cancel_run", (run) => ({ run }))],
  ["AG-UI, a new thread", WRITE, agui(fresh)],
  ["AG-UI, a look at a run", READ, agui((threadId) => ({ threadId }))],
];

interface Given {
  readonly approvals?: readonly string[];
  readonly script: JsonObject;
}

const serverOf = (given: Given): Promise<Served> => servedDesk({ tokenNeeded: true, principalOf, ...given });

async function placeOn(server: Served): Promise<Place> {
  const asked = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: wire({}) } };
  const { body } = await a2aRpc(server, asked, bearer("admin"));
  const { task } = body["result"] as unknown as { task: { id: string; status: { state: string } } };
  expect(task.status.state).toBe(TaskState[TaskState.TASK_STATE_INPUT_REQUIRED]);
  return { server, run: task.id };
}

test.each(EVENTS)("%s", async (_name, scopes, attempt) => {
  const server = await serverOf({ script: asking });
  for (const scope of SCOPES) {
    const may = await attempt(await placeOn(server), bearer(scope));
    expect([scope, may]).toEqual([scope, scope === "admin" || scopes.includes(scope)]);
  }
});

const stamps: JsonObject = {
  states: {
    work: [{ calls: [{ tool: "stamp", args: { on: "it" } }] }, { event: "Done" }],
    end: [{ text: "Goodbye." }],
  },
  tools: { stamp: [{ ok: "stamped" }] },
};

const approve = { decision: "approve" };

const APPROVALS: readonly (readonly [string, Attempt])[] = [
  ["A2A", a2a("SendMessage", (run) => ({ message: wire({ taskId: run, parts: [{ data: approve }] }) }))],
  [
    "MCP",
    async (given, headers) => {
      const { body } = await given.server.get(`/api/runs/${given.run}`, bearer("admin"));
      const [{ step }] = body["waiting_for"] as unknown as [{ step: number }];
      return mcp("answer", (run) => ({ run, step, ...approve }))(given, headers);
    },
  ],
];

test.each(APPROVALS)("a decision about a gated call over %s", async (_name, attempt) => {
  const server = await serverOf({ script: stamps, approvals: ["stamp"] });
  for (const scope of SCOPES) {
    const may = await attempt(await placeOn(server), bearer(scope));
    expect([scope, may]).toEqual([scope, ["admin", "approvals:decide"].includes(scope)]);
  }
});

describe("who started a run", () => {
  const all: readonly Scope[] = ["runs:read", "runs:write", "events:send", "approvals:decide"];
  const named = (token: string): Principal | undefined =>
    token === "token-of-admin" ? { name: "admin", scopes: ["admin"] } : { name: token, scopes: all };
  const as = (name: string): Headers => ({ authorization: `Bearer ${name}` });
  const gated = () =>
    servedDesk({ tokenNeeded: true, principalOf: named, script: stamps, approvals: ["stamp"] });

  async function waiting(server: Served, headers: Headers): Promise<{ run: string; step: number }> {
    const started = { digest: "", variables: { who: "Ada" } };
    const { body: packs } = await server.get("/api/packs", headers);
    const [{ digest }] = packs["items"] as unknown as [{ digest: string }];
    const { result } = await callTool(server.url, "start_run", { ...started, digest }, { headers });
    const { run, waiting_for: waits } = result["structuredContent"] as unknown as {
      run: string;
      waiting_for: [{ step: number }];
    };
    return { run, step: waits[0].step };
  }

  test("cannot approve its calls over A2A, not even by a fork of it, and somebody else can", async () => {
    const server = await gated();
    const message = wire({});
    const begin = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } };
    const { body } = await a2aRpc(server, begin, as("ann"));
    const { task } = body["result"] as unknown as { task: { id: string } };
    const decide = (id: string, name: string) => {
      const reply = wire({ taskId: id, parts: [{ data: approve }] });
      return a2aRpc(server, { ...begin, params: { message: reply } }, as(name));
    };
    expect(await decide(task.id, "ann")).toMatchObject({ status: 403, body: { code: "self-approval" } });
    const fork = await server.post(`/api/runs/${task.id}/fork`, {}, as("bob"));
    const copy = String(fork.body["run"]);
    expect(await decide(copy, "bob")).toMatchObject({ status: 403, body: { code: "self-approval" } });
    const { body: done } = await decide(task.id, "bob");
    expect(done["result"]).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
  });

  test("cannot approve its calls over AG-UI, and somebody else can", async () => {
    const server = await gated();
    const { run, step } = await waiting(server, as("ann"));
    const resume = [{ interruptId: String(step), status: "resolved", payload: approve }];
    const body = { threadId: run, runId: "1", resume };
    const own = await openPage(server, body, { headers: as("ann") });
    expect(own.status).toBe(403);
    const other = await openPage(server, body, { headers: as("bob") });
    expect((await other.done).last).toMatchObject({ outcome: { type: "success" } });
  });

  test("cannot approve its calls over MCP, and is shown no form for it", async () => {
    const server = await gated();
    const { run, step } = await waiting(server, as("ann"));
    const { result } = await callTool(
      server.url,
      "answer",
      { run, step, ...approve },
      { headers: as("ann"), capabilities: WITH_FORMS },
    );
    expect(JSON.stringify(result["content"])).toContain("self-approval");
  });
});

test("a token without runs:read sees how the task stands that it moved, and nothing of what was said", async () => {
  const { server, run } = await placeOn(await serverOf({ script: asking }));
  const params = { message: wire({ taskId: run, parts: [{ text: "Yes" }] }) };
  const asked = { jsonrpc: "2.0", id: 1, method: "SendMessage", params };
  const { body } = await a2aRpc(server, asked, bearer("events:send"));
  const { task } = body["result"] as unknown as { task: JsonObject };
  expect(task).toMatchObject({ id: run, status: { state: "TASK_STATE_COMPLETED" } });
  expect(task["history"] ?? []).toEqual([]);
});

test("whoever started a thread may come back to it, and nobody else without the scope", async () => {
  const server = await servedDesk({ tokenNeeded: true, principalOf, script: asking });
  const body = {
    threadId: "mine",
    runId: "1",
    messages: said("Please."),
    forwardedProps: { variables: { who: "Ada" } },
  };
  const options = { path: "/agui/desk/clerk", headers: bearer("runs:write") };
  const first = await (await openPage(server, body, options)).done;
  const again = await (await openPage(server, body, options)).done;
  expect(again.last).toMatchObject({ outcome: first.last["outcome"] as JsonObject });
  const run = runOf(first);
  const byName = await openPage(server, { threadId: run, runId: "1" }, options);
  expect(byName.status).toBe(403);
});

test("MCP resources are for those who may read runs", async () => {
  const { server, run } = await placeOn(await serverOf({ script: asking }));
  for (const scope of SCOPES) {
    const uri = `packloop://runs/${run}/trace`;
    const { error } = await rpc(server.url, "resources/read", { uri }, { headers: bearer(scope) });
    expect([scope, error === undefined]).toEqual([scope, scope === "admin" || scope === "runs:read"]);
  }
});
