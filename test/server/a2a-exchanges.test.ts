// A2A 1.0 as the specification writes it: raw requests, cards, versions, errors on both bindings, and who may
// do what.

import { TaskState } from "@a2a-js/sdk";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { clientOf, desk, message, request, rpc, send, servedDesk, started, text } from "./a2a-served.ts";
import { bearer, principalOf } from "./callers.ts";
import type { Served } from "./served.ts";

const VERSION = { "a2a-version": "1.0" };

const call = (method: string, params: unknown, id: unknown = 1) => ({ jsonrpc: "2.0", id, method, params });

const wire = (more: JsonObject = {}): JsonObject => ({
  messageId: "m-1",
  role: "ROLE_USER",
  parts: [{ text: "Please." }, { data: { who: "Ada" } }],
  ...more,
});

async function rest(
  { url }: Served,
  method: string,
  path: string,
  options: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<{ readonly status: number; readonly type: string; readonly body: JsonObject }> {
  const { body, headers = {} } = options;
  const response = await fetch(`${url}/a2a/desk/clerk${path}`, {
    method,
    headers: { "content-type": "application/a2a+json", ...VERSION, ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const type = response.headers.get("content-type") ?? "";
  const said = await response.text();
  return { status: response.status, type, body: said === "" ? {} : (JSON.parse(said) as JsonObject) };
}

describe("the card", () => {
  test.each([
    "/.well-known/agent-card.json",
    "/.well-known/agent.json",
    "/a2a/desk/clerk/agent-card.json",
    "/a2a/desk/clerk/.well-known/agent-card.json",
  ])("is at %s", async (path) => {
    const server = await servedDesk();
    const response = await fetch(`${server.url}${path}`);
    const card = (await response.json()) as JsonObject;
    expect(card).toMatchObject({
      name: "Clerk",
      description: "Serves somebody at the desk.",
      version: "2.0.0",
      capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
      defaultInputModes: ["text/plain"],
      skills: [{ id: "clerk", tags: ["desk", "help"] }],
    });
    const at = `${server.url}/a2a/desk/clerk`;
    expect(card["supportedInterfaces"]).toEqual([
      { url: at, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: at, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
    ]);
    expect(card["securityRequirements"]).toBeUndefined();
  });

  test("names the address at which others find the server, which is its own to pages, too", async () => {
    const server = await servedDesk({ publicUrl: "https://packs.example/loops" });
    const response = await fetch(`${server.url}/.well-known/agent-card.json`);
    const card = (await response.json()) as { supportedInterfaces: readonly { url: string }[] };
    for (const { url } of card.supportedInterfaces)
      expect(url).toBe("https://packs.example/loops/a2a/desk/clerk");
    expect((await server.get("/api/runs", { origin: "https://packs.example" })).status).toBe(200);
    expect((await server.get("/api/runs", { origin: "https://other.example" })).status).toBe(403);
  });

  test("can be kept by who has it, and says when it has changed", async () => {
    const { url } = await servedDesk();
    const path = `${url}/.well-known/agent-card.json`;
    const { headers } = await fetch(path);
    expect(headers.get("cache-control")).toMatch(/max-age=\d+/);
    const tag = headers.get("etag") ?? "";
    const changed = headers.get("last-modified") ?? "";
    expect((await fetch(path, { headers: { "if-none-match": tag } })).status).toBe(304);
    expect((await fetch(path, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
    expect((await fetch(path, { headers: { "if-modified-since": changed } })).status).toBe(304);
  });

  test("is the other agent's at the other agent's address, and nobody's elsewhere", async () => {
    const { url } = await servedDesk();
    const card = (await (await fetch(`${url}/a2a/desk/greeter/agent-card.json`)).json()) as JsonObject;
    expect(card["name"]).toBe("Greeter");
    expect((await fetch(`${url}/a2a/desk/nobody/agent-card.json`)).status).toBe(404);
    expect((await fetch(`${url}/a2a/nowhere/clerk/agent-card.json`)).status).toBe(404);
  });

  test("is that of the pack registered last, and follows a pack that is registered again", async () => {
    const server = await servedDesk();
    const other = desk.replace("id: desk", "id: counter").replace("name: Clerk", "name: Teller");
    await server.post("/api/packs", { source: other });
    const name = async () =>
      ((await (await fetch(`${server.url}/.well-known/agent-card.json`)).json()) as JsonObject)["name"];
    expect(await name()).toBe("Teller");
    await server.post("/api/packs", { source: desk.replace("name: Clerk", "name: Chief") });
    expect(await name()).toBe("Chief");
  });

  test("is open where everything else needs a token, and says so", async () => {
    const server = await servedDesk({ tokenNeeded: true, principalOf });
    const card = (await (await fetch(`${server.url}/.well-known/agent-card.json`)).json()) as JsonObject;
    expect(card["securityRequirements"]).toEqual([{ schemes: { bearer: {} } }]);
    expect(card["securitySchemes"]).toMatchObject({
      bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } },
    });
  });
});

describe("JSON-RPC", () => {
  test("takes a message and answers with the task under the id of the request", async () => {
    const server = await servedDesk();
    const { status, body } = await rpc(server, call("SendMessage", { message: wire() }, "one"));
    expect([status, body["jsonrpc"], body["id"]]).toEqual([200, "2.0", "one"]);
    expect(body["result"]).toMatchObject({ task: { status: { state: "TASK_STATE_INPUT_REQUIRED" } } });
  });

  test("streams responses as server-sent events with the id of the request", async () => {
    const { url } = await servedDesk();
    const response = await fetch(`${url}/a2a/desk/clerk`, {
      method: "POST",
      headers: { "content-type": "application/json", ...VERSION },
      body: JSON.stringify(call("SendStreamingMessage", { message: wire() }, 7)),
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events = (await response.text()).split("\n\n").filter((event) => event.startsWith("data: "));
    const parsed = events.map((event) => JSON.parse(event.slice(6)) as JsonObject);
    expect(parsed.every(({ id, jsonrpc }) => id === 7 && jsonrpc === "2.0")).toBe(true);
    expect(parsed[0]?.["result"]).toMatchObject({ task: { status: { state: "TASK_STATE_SUBMITTED" } } });
    expect(parsed.at(-1)?.["result"]).toMatchObject({
      statusUpdate: { status: { state: "TASK_STATE_INPUT_REQUIRED" } },
    });
  });

  test.each([
    ["what is no JSON", "{", -32700],
    ["a list of requests", [call("GetTask", { id: "x" })], -32600],
    ["another protocol", { ...call("GetTask", {}), jsonrpc: "1.0" }, -32600],
    ["a request without a method", { jsonrpc: "2.0", id: 1 }, -32600],
    ["an id that is none", call("GetTask", { id: "x" }, { a: 1 }), -32600],
    ["a method that is unknown", call("Dance", {}), -32601],
    ["parameters that are a list", call("GetTask", []), -32602],
    ["a message that is missing", call("SendMessage", {}), -32602],
    ["a message without an id", call("SendMessage", { message: wire({ messageId: "" }) }), -32602],
    ["an id that is no text", call("SendMessage", { message: wire({ messageId: 5 }) }), -32602],
    ["a message without parts", call("SendMessage", { message: wire({ parts: [] }) }), -32602],
    ["a part that is null", call("SendMessage", { message: wire({ parts: [null] }) }), -32602],
    ["a part without content", call("SendMessage", { message: wire({ parts: [{}] }) }), -32602],
    ["a message of an agent", call("SendMessage", { message: wire({ role: "ROLE_AGENT" }) }), -32602],
    ["variables that are a list", call("SendMessage", { message: wire({ parts: [{ data: [1] }] }) }), -32602],
    ["a task without an id", call("GetTask", { id: "" }), -32602],
    ["a negative history", call("GetTask", { id: "x", historyLength: -1 }), -32602],
    ["a page of nothing", call("ListTasks", { pageSize: 0 }), -32602],
    ["a page too large", call("ListTasks", { pageSize: 101 }), -32602],
    ["a token that is none", call("ListTasks", { pageToken: "!" }), -32602],
    ["a time that is none", call("ListTasks", { statusTimestampAfter: "soon" }), -32602],
    ["a task that is unknown", call("GetTask", { id: "none" }), -32001],
    ["a stream of an unknown task", call("SubscribeToTask", { id: "none" }), -32001],
    ["an answer to an unknown task", call("SendMessage", { message: wire({ taskId: "none" }) }), -32001],
    ["a cancel of an unknown task", call("CancelTask", { id: "none" }), -32001],
    ["a config of an unknown task", call("ListTaskPushNotificationConfigs", { taskId: "none" }), -32001],
    [
      "a file that is no text",
      call("SendMessage", { message: wire({ parts: [{ raw: "AAAA", mediaType: "image/png" }] }) }),
      -32005,
    ],
    [
      "a file from elsewhere",
      call("SendMessage", { message: wire({ parts: [{ url: "http://127.0.0.1/" }] }) }),
      -32005,
    ],
    [
      "an extension that is unknown",
      call("SendMessage", { message: wire({ extensions: ["urn:x:unknown"] }) }),
      -32008,
    ],
  ])("refuses %s", async (_, body, code) => {
    const { status, body: answer } = await rpc(await servedDesk(), body);
    expect(answer["error"]).toMatchObject({ code, message: expect.any(String) as string });
    expect([status, answer["result"]]).toEqual([200, undefined]);
  });

  test("says in its errors what is wrong for programs, too", async () => {
    const { body } = await rpc(await servedDesk(), call("GetTask", { id: "none" }));
    expect(body["error"]).toMatchObject({
      data: [{ reason: "TASK_NOT_FOUND", domain: "a2a-protocol.org" }],
    });
  });

  test("refuses other versions, and none, which means 0.3", async () => {
    const server = await servedDesk();
    const ask = async (version: string) =>
      ((await rpc(server, call("ListTasks", {}), { "a2a-version": version })).body["error"] as JsonObject)?.[
        "code"
      ];
    expect(await ask("1.0.1")).toBeUndefined();
    for (const version of ["", "0.3", "2.0", "1.1", "x"]) expect(await ask(version)).toBe(-32009);
    const { url } = server;
    const asked = await fetch(`${url}/a2a/desk/clerk?A2A-Version=1.0`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(call("ListTasks", {})),
    });
    expect(await asked.json()).toMatchObject({ result: { tasks: [], nextPageToken: "", totalSize: 0 } });
  });

  test("refuses a body of another type", async () => {
    const { body } = await rpc(await servedDesk(), call("ListTasks", {}), { "content-type": "text/plain" });
    expect(body["error"]).toMatchObject({ code: -32005 });
  });
});

describe("HTTP+JSON", () => {
  test("takes a message and answers in the protocol's own type", async () => {
    const server = await servedDesk();
    const { status, type, body } = await rest(server, "POST", "/message:send", { body: { message: wire() } });
    expect([status, type]).toEqual([200, "application/a2a+json"]);
    const { task } = body as unknown as { task: { id: string; status: JsonObject } };
    expect(task.status["state"]).toBe("TASK_STATE_INPUT_REQUIRED");
    const found = await rest(server, "GET", `/tasks/${task.id}?historyLength=0`);
    expect(found.body).toMatchObject({ id: task.id });
    expect(found.body["history"]).toBeUndefined();
    const listed = await rest(server, "GET", "/tasks?status=TASK_STATE_INPUT_REQUIRED");
    expect(listed.body).toMatchObject({ nextPageToken: "", pageSize: 50, totalSize: 1 });
    expect((listed.body["tasks"] as unknown as readonly JsonObject[])[0]).not.toHaveProperty("artifacts");
    const cancelled = await rest(server, "POST", `/tasks/${task.id}:cancel`, { body: {} });
    expect(cancelled.body).toMatchObject({ status: { state: "TASK_STATE_CANCELED" } });
    const over = await rest(server, "POST", `/tasks/${task.id}:subscribe`, { body: {} });
    expect([over.status, over.body]).toMatchObject([
      400,
      { error: { code: 400, status: "FAILED_PRECONDITION", details: [{ reason: "UNSUPPORTED_OPERATION" }] } },
    ]);
  });

  test.each([
    ["GET", "/tasks/none", undefined, 404, "TASK_NOT_FOUND"],
    ["POST", "/tasks/none:cancel", {}, 404, "TASK_NOT_FOUND"],
    ["POST", "/tasks/none:subscribe", {}, 404, "TASK_NOT_FOUND"],
    ["GET", "/tasks?pageSize=0", undefined, 400, undefined],
    ["GET", "/tasks?status=TASK_STATE_DANCING", undefined, 400, undefined],
    ["POST", "/message:send", {}, 400, undefined],
    ["POST", "/message:send", "{", 400, undefined],
    ["POST", "/message:send", "[]", 400, undefined],
    ["POST", "/message:stream", { message: wire({ parts: [] }) }, 400, undefined],
    ["POST", "/message:send", { message: wire({ taskId: "none" }) }, 404, "TASK_NOT_FOUND"],
    ["GET", "/tasks/none/pushNotificationConfigs", undefined, 404, "TASK_NOT_FOUND"],
  ])("%s %s is refused with the protocol's status", async (method, path, body, status, reason) => {
    const answer = await rest(await servedDesk(), method, path, body === undefined ? {} : { body });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ error: { code: status, message: expect.any(String) as string } });
    const { details } = (answer.body as unknown as { error: { details: readonly JsonObject[] } }).error;
    if (reason !== undefined) expect(details).toMatchObject([{ reason, domain: "a2a-protocol.org" }]);
  });

  test("refuses versions and types it does not speak with 400", async () => {
    const server = await servedDesk();
    const old = await rest(server, "GET", "/tasks", { headers: { "a2a-version": "0.3" } });
    expect([old.status, old.body]).toMatchObject([
      400,
      { error: { details: [{ reason: "VERSION_NOT_SUPPORTED" }] } },
    ]);
    const typed = { body: JSON.stringify({ message: wire() }), headers: { "content-type": "text/plain" } };
    const other = await rest(server, "POST", "/message:send", typed);
    expect([other.status, other.body]).toMatchObject([
      400,
      { error: { details: [{ reason: "CONTENT_TYPE_NOT_SUPPORTED" }] } },
    ]);
  });

  test.each(["/nowhere", "/tasks/a/b", "/tasks/a/pushNotificationConfigs/b/c", "/message:dance", "/%zz"])(
    "has nothing at %s",
    async (path) => {
      const { status } = await rest(await servedDesk(), "POST", path, { body: {} });
      expect([400, 404]).toContain(status);
    },
  );
});

describe("a task", () => {
  test("that has ended takes no message and cannot be cancelled", async () => {
    const client = await clientOf(await servedDesk(), { agent: "desk/greeter" });
    const { id } = await started(client, message([text("Hi")]));
    await expect(client.sendMessage(send(message([text("More")], { taskId: id })))).rejects.toMatchObject({
      envelopeCode: -32004,
    });
    await expect(client.cancelTask({ tenant: "", id, metadata: undefined })).rejects.toMatchObject({
      envelopeCode: -32002,
    });
    await expect(client.resubscribeTask({ tenant: "", id }).next()).rejects.toMatchObject({
      envelopeCode: -32004,
    });
  });

  test("takes no message of another context", async () => {
    const client = await clientOf(await servedDesk());
    const { id } = await started(client);
    const other = message([text("Yes")], { taskId: id, contextId: "another" });
    await expect(client.sendMessage(send(other))).rejects.toMatchObject({ envelopeCode: -32602 });
  });

  test("is that of its agent only, and runs that nobody sent a message for are none", async () => {
    const server = await servedDesk();
    const { id } = await started(await clientOf(server));
    const greeter = await clientOf(server, { agent: "desk/greeter" });
    await expect(greeter.getTask({ tenant: "", id })).rejects.toMatchObject({ envelopeCode: -32001 });
    const { body } = await server.post("/api/runs", { pack: desk, agent: "greeter", input: "Hi" });
    const run = String(body["run"]);
    await expect(greeter.getTask({ tenant: "", id: run })).rejects.toMatchObject({ envelopeCode: -32001 });
  });

  test("is not started twice by another message with the same id", async () => {
    const client = await clientOf(await servedDesk());
    const first = request();
    await started(client, first);
    const other = { ...first, parts: [text("Something else.")] };
    await expect(started(client, other)).rejects.toMatchObject({ envelopeCode: -32602 });
  });

  test("keeps the context it was given and the names it was given, however odd", async () => {
    const client = await clientOf(await servedDesk());
    const odd = request({ contextId: "__proto__", messageId: "constructor" });
    const task = await started(client, odd);
    expect([task.contextId, task.history[0]?.messageId]).toEqual(["__proto__", "constructor"]);
    expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  });
});

describe("with a token needed", () => {
  const asked = call("SendMessage", { message: wire() });

  test("nobody without one comes in", async () => {
    const server = await servedDesk({ tokenNeeded: true, principalOf });
    expect((await rpc(server, asked)).status).toBe(401);
    expect((await rpc(server, asked, { authorization: "Bearer wrong" })).status).toBe(401);
    expect((await rest(server, "GET", "/tasks")).status).toBe(401);
  });

  test("tasks are started by who may write runs, and read by who may read them", async () => {
    const server = await servedDesk({ tokenNeeded: true, principalOf });
    expect((await rpc(server, asked, bearer("events:send"))).status).toBe(403);
    const { status, body } = await rpc(server, asked, bearer("runs:read"));
    expect([status, body]).toMatchObject([403, { code: "scope-missing", scope: "runs:write" }]);
    const listed = await rpc(server, call("ListTasks", {}), bearer("runs:read"));
    expect(listed.body["result"]).toMatchObject({ totalSize: 0 });
    const started = await rpc(server, asked, bearer("admin"));
    const { task } = started.body["result"] as unknown as { task: { id: string } };
    const get = call("GetTask", { id: task.id });
    expect((await rpc(server, get, bearer("runs:read"))).body["result"]).toMatchObject({ id: task.id });
    const said = { message: wire({ messageId: "m-2", taskId: task.id, parts: [{ text: "Yes" }] }) };
    for (const refused of [call("SendMessage", said), call("CancelTask", { id: task.id })])
      expect((await rpc(server, refused, bearer("runs:read"))).status).toBe(403);
    const stream = await rpc(server, call("SendStreamingMessage", said), bearer("runs:read"));
    expect(stream.status).toBe(403);
    const config = { taskId: task.id, url: "https://example.com/" };
    const push = call("CreateTaskPushNotificationConfig", config);
    expect((await rpc(server, push, bearer("runs:read"))).status).toBe(403);
    expect((await rpc(server, get, bearer("runs:read"))).body["result"]).toMatchObject({
      status: { state: "TASK_STATE_INPUT_REQUIRED" },
    });
  });
});
