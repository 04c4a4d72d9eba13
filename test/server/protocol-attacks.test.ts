// What clients of A2A, MCP and AG-UI send that they should not, twice, too late, or in somebody else's name:
// it is refused or ignored, the run is as it was, and the server stays up.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { webhookPost } from "../../src/cli/runs/webhook-post.ts";
import { rpc as a2aRpc, asking, desk, ending, servedDesk } from "./a2a-served.ts";
import { openPage, post, runOf, said } from "./agui-page.ts";
import { callTool, rpc, WITH_FORMS } from "./mcp-rpc.ts";
import type { Served } from "./served.ts";

const wire = (more: JsonObject = {}): JsonObject => ({
  ...{ messageId: crypto.randomUUID(), role: "ROLE_USER" },
  parts: [{ text: "Please." }, { data: { who: "Ada" } }],
  ...more,
});

const sent = (server: Served, message: JsonObject) =>
  a2aRpc(server, { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });

const taskIn = ({ body }: { readonly body: JsonObject }): JsonObject =>
  (body["result"] as unknown as { task: JsonObject }).task;

async function waitingTask(server: Served): Promise<string> {
  return String(taskIn(await sent(server, wire()))["id"]);
}

const turnOf = async (server: Served, run: string): Promise<number> =>
  Number((await server.get(`/api/runs/${run}`)).body["turns"]);

const eventsIn = async (server: Served, run: string): Promise<readonly string[]> => {
  const { body } = await server.get(`/api/runs/${run}/trace`);
  return (body as unknown as readonly { event: string | null }[]).flatMap(({ event }) => event ?? []);
};

/** Comes back to the gate as often as it is told to. */
const loop = desk.replace("Yes: end, No: work", "Yes: end, No: gate");

describe("A2A messages", () => {
  test("with the id of another are refused and change nothing", async () => {
    const server = await servedDesk({ pack: loop });
    const run = await waitingTask(server);
    const first = wire({ taskId: run, parts: [{ text: "No" }] });
    await sent(server, first);
    const turn = await turnOf(server, run);
    const { body } = await sent(server, { ...first, parts: [{ text: "Yes" }] });
    expect(body["error"]).toMatchObject({ message: expect.stringContaining("another message with the id") });
    expect(await turnOf(server, run)).toBe(turn);
    expect(taskIn(await sent(server, first))["id"]).toBe(run);
    expect(await turnOf(server, run)).toBe(turn);
  });

  test("that come five times at once are taken once", async () => {
    const server = await servedDesk({ pack: loop });
    const run = await waitingTask(server);
    const reply = wire({ taskId: run, parts: [{ text: "No" }] });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => sent(server, reply)));
    for (const answer of answers) expect(taskIn(answer)["metadata"]).not.toHaveProperty("not_taken");
    expect((await eventsIn(server, run)).filter((event) => event === "No")).toEqual(["No"]);
  });

  test("that answer what was asked before do not answer what is asked now", async () => {
    const server = await servedDesk({ pack: loop });
    const run = await waitingTask(server);
    const { body } = await server.get(`/api/runs/${run}`);
    const [{ step }] = body["waiting_for"] as unknown as [{ step: number }];
    const answer = (event: string) =>
      wire({ taskId: run, parts: [{ data: { question: String(step), answer: { event } } }] });
    await sent(server, answer("No"));
    const late = taskIn(await sent(server, answer("Yes")));
    expect(late).toMatchObject({
      status: { state: "TASK_STATE_INPUT_REQUIRED" },
      metadata: { not_taken: expect.any(String) },
    });
    expect(await eventsIn(server, run)).not.toContain("Yes");
  });

  test("to a task of another agent or another pack find none", async () => {
    const server = await servedDesk();
    const other = desk.replace("id: desk", "id: other");
    await server.post("/api/packs", { source: other, file: "other.yaml" });
    const run = await waitingTask(server);
    const turn = await turnOf(server, run);
    for (const path of ["/a2a/desk/greeter", "/a2a/other/clerk"]) {
      for (const [method, params] of [
        ["SendMessage", { message: wire({ taskId: run, parts: [{ text: "Yes" }] }) }],
        ["GetTask", { id: run }],
        ["CancelTask", { id: run }],
        ["CreateTaskPushNotificationConfig", { taskId: run, url: "https://example.org/" }],
      ] as const) {
        const response = await fetch(`${server.url}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", "a2a-version": "1.0" },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        });
        expect(await response.json()).toMatchObject({ error: { code: -32001 } });
      }
    }
    expect(await turnOf(server, run)).toBe(turn);
  });
});

describe("AG-UI requests", () => {
  const forwardedProps = { variables: { who: "Ada" } };
  const path = "/agui/desk/clerk";

  test("that begin a conversation and come again say nothing more", async () => {
    const talk = { states: { work: [{ text: "Hello?" }, { text: "I see." }] } };
    const server = await servedDesk({ script: talk });
    const props = { ...forwardedProps, mode: "conversational" };
    const body = { threadId: "t1", runId: "1", messages: said("Hi."), forwardedProps: props };
    const first = await post(server, body, path);
    const run = runOf(first);
    const turn = await turnOf(server, run);
    const again = await post(server, body, path);
    expect(again.last["outcome"]).toEqual(first.last["outcome"]);
    expect(await turnOf(server, run)).toBe(turn);
    // Other words are another message, whatever they are called.
    await post(server, { ...body, messages: said("Well.") }, path);
    expect(await turnOf(server, run)).toBeGreaterThan(turn);
  });

  test("that answer the same thing five times at once are taken once", async () => {
    const server = await servedDesk({ pack: loop });
    const body = { threadId: "t1", runId: "1", messages: said("Hi."), forwardedProps };
    const first = await post(server, body, path);
    const run = runOf(first);
    const { interrupts } = first.last["outcome"] as { interrupts: [{ id: string }] };
    const resume = [{ interruptId: interrupts[0].id, status: "resolved", payload: { event: "No" } }];
    const pages = [1, 2, 3, 4, 5].map((n) => post(server, { threadId: "t1", runId: `r${n}`, resume }, path));
    for (const page of await Promise.all(pages)) expect(page.last["type"]).toBe("RUN_FINISHED");
    expect((await eventsIn(server, run)).filter((event) => event === "No")).toEqual(["No"]);
  });

  test("that answer something twice over are refused", async () => {
    const server = await servedDesk();
    const body = { threadId: "t1", runId: "1", messages: said("Hi."), forwardedProps };
    const first = await post(server, body, path);
    const { interrupts } = first.last["outcome"] as { interrupts: [{ id: string }] };
    const entry = (event: string) => ({
      interruptId: interrupts[0].id,
      status: "resolved",
      payload: { event },
    });
    const resume = [entry("No"), entry("Yes")];
    const page = await post(server, { threadId: "t1", runId: "2", resume }, path);
    expect(page.last).toMatchObject({ type: "RUN_ERROR", code: "rejected" });
  });

  test("for a thread of another token are for another run", async () => {
    const server = await servedDesk({
      principalOf: (name) => ({ name, scopes: ["admin"] }),
      tokenNeeded: true,
    });
    const run = async (name: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${name}` };
      const body = { threadId: "t1", runId: "1", messages: said("Hi."), forwardedProps };
      const page = await post(server, body, path, headers);
      return runOf(page);
    };
    const own = await run("ann");
    expect(await run("ann")).toBe(own);
    expect(await run("bob")).not.toBe(own);
  });
});

describe("MCP answers", () => {
  test("that come four times at once are taken once", async () => {
    const server = await servedDesk({ pack: loop });
    const { body: packs } = await server.get("/api/packs");
    const [{ digest }] = packs["items"] as unknown as [{ digest: string }];
    const args = { digest, variables: { who: "Ada" } };
    const options = { capabilities: WITH_FORMS };
    const first = await callTool(server.url, "start_run", args, options);
    const [key = ""] = Object.keys(first.result["inputRequests"] as JsonObject);
    const say = (event: string) => {
      const inputResponses = { [key]: { action: "accept", content: { event } } };
      const more = { inputResponses, requestState: first.result["requestState"] as Json };
      return callTool(server.url, "start_run", args, { ...options, more });
    };
    const answers = await Promise.all(["No", "No", "No", "No"].map(say));
    for (const { error } of answers) expect(error).toBeUndefined();
    const { body } = await server.get("/api/runs");
    const [{ run }] = body["items"] as unknown as [{ run: string }];
    expect((await eventsIn(server, run)).filter((event) => event === "No")).toEqual(["No"]);
  });
});

describe("push notification configs", () => {
  const made = (server: Served, run: string, more: JsonObject) => {
    const params = { taskId: run, url: "https://example.org/", ...more };
    const method = "CreateTaskPushNotificationConfig";
    return a2aRpc(server, { jsonrpc: "2.0", id: 1, method, params });
  };

  test("reach nobody on this machine or in its network, by whatever name", async () => {
    const heard: string[] = [];
    const receiver = createServer((request, response) => {
      heard.push(request.url ?? "");
      response.end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void receiver.close());
    const { port } = receiver.address() as AddressInfo;
    const hosts = ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1"];
    const addresses = hosts.flatMap((host) => [`http://${host}:${port}/`, `https://${host}:${port}/`]);
    const guard = webhookPost([]);
    const tried = new Set<string>();
    const allTried = Promise.withResolvers<void>();
    const server = await servedDesk({
      webhookPausesMs: [],
      async post(sending) {
        const posted = await guard(sending);
        tried.add(sending.url);
        if (tried.size === addresses.length) allTried.resolve();
        return posted;
      },
    });
    const run = await waitingTask(server);
    for (const url of addresses) expect((await made(server, run, { url })).body["error"]).toBeUndefined();
    for (const url of [
      ...["http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "file:///etc/passwd", "gopher://x/"],
      ...[`http://user:password@127.0.0.1:${port}/`, "//127.0.0.1/", ""],
    ])
      expect((await made(server, run, { url })).body["error"], url).toMatchObject({ code: -32602 });
    await sent(server, wire({ taskId: run, parts: [{ text: "Yes" }] }));
    await allTried.promise;
    expect(heard).toEqual([]);
  });

  test("carry no headers of the client's making, and nothing endless", async () => {
    const server = await servedDesk();
    const run = await waitingTask(server);
    for (const more of [
      { token: "a\r\nx-evil: 1" },
      { token: "☃" },
      { authentication: { scheme: "Bearer", credentials: "a\nb" } },
      { authentication: { scheme: "Bearer\u0000", credentials: "a" } },
      { token: "x".repeat(4_001) },
      { id: "x".repeat(4_001) },
      { url: `https://example.org/${"x".repeat(4_000)}` },
    ] as readonly JsonObject[])
      expect((await made(server, run, more)).body["error"], JSON.stringify(more).slice(0, 60)).toBeDefined();
    const asked = {
      jsonrpc: "2.0",
      id: 1,
      method: "ListTaskPushNotificationConfigs",
      params: { taskId: run },
    };
    const { body } = await a2aRpc(server, asked);
    expect(body["result"]).not.toMatchObject({ configs: [{}] });
  });
});

const hostileIds = [
  ["NUL", "a\u0000b"],
  ["line breaks", "a\r\nSet-Cookie: b"],
  ["directions of writing", "a\u202eb"],
  ["a prototype", "__proto__"],
  ["a path", "../../etc/passwd"],
  ["another alphabet", "идентификатор-🧵"],
] as const;

describe("names that clients make up", () => {
  test.each(hostileIds)("with %s are kept as they are, or refused", async (_name, id) => {
    const server = await servedDesk();
    const task = taskIn(await sent(server, wire({ messageId: id, contextId: id })));
    expect(task["contextId"]).toBe(id);
    expect((task["history"] as unknown as [JsonObject])[0]).toMatchObject({ messageId: id });
    const same = taskIn(await sent(server, wire({ messageId: `${id}2`, contextId: id })));
    expect(same["id"]).not.toBe(task["id"]);
    const forwardedProps = { variables: { who: "Ada" } };
    const body = { threadId: id, runId: id, messages: said("Hi.", id), forwardedProps };
    const page = await post(server, body, "/agui/desk/clerk");
    const again = await post(server, body, "/agui/desk/clerk");
    expect(page.last).toMatchObject({ type: "RUN_FINISHED", threadId: id });
    expect(again.events[0]?.["metadata"]).toEqual(page.events[0]?.["metadata"]);
    const { error } = await rpc(
      server.url,
      "tasks/get",
      { taskId: id },
      { capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } }, headers: { "mcp-name": "x" } },
    );
    expect(error).toBeDefined();
  });

  test("that are half a character, or endless, are refused", async () => {
    const server = await servedDesk();
    for (const id of ["a\ud800", "x".repeat(501), ""]) {
      const { body } = await sent(server, wire({ messageId: id }));
      expect(body["error"], JSON.stringify(id.slice(0, 9))).toMatchObject({ code: expect.any(Number) });
      const page = await openPage(server, { threadId: id, runId: "1" }, { path: "/agui/desk/clerk" });
      expect(page.status).toBe(400);
    }
    const { body } = await server.get("/api/runs");
    expect(body["items"]).toEqual([]);
  });
});

describe("bodies", () => {
  const deep = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const endless = (value: string): Readonly<Record<string, readonly [path: string, body: string]>> => ({
    a2a: [
      "/a2a/desk/clerk",
      `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"data":${value}}]}}}`,
    ],
    "a2a over REST": [
      "/a2a/desk/clerk/message:send",
      `{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"data":${value}}]}}`,
    ],
    mcp: [
      "/mcp",
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"agent_desk_clerk","arguments":{"variables":{"who":"Ada","deep":${value}}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
    ],
    agui: [
      "/agui/desk/clerk",
      `{"threadId":"1","runId":"1","messages":[],"tools":[],"context":[],"forwardedProps":{"variables":{"who":"Ada","deep":${value}}}}`,
    ],
  });

  test.each(["a2a", "a2a over REST", "mcp", "agui"])(
    "that are too deep or too large are refused: %s",
    async (name) => {
      const server = await servedDesk();
      for (const value of [deep(100), deep(100_000), `"${"x".repeat(10_000_000)}"`]) {
        const [path = "", body = ""] = endless(value)[name] ?? [];
        const response = await fetch(`${server.url}${path}`, {
          method: "POST",
          headers: {
            ...{ "content-type": "application/json", "a2a-version": "1.0" },
            ...{ accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28" },
            ...{ "mcp-method": "tools/call", "mcp-name": "agent_desk_clerk" },
          },
          body,
        });
        const text = await response.text();
        expect(response.status).toBeLessThan(500);
        expect(response.status === 413 || response.status === 400 || text.includes('"error"')).toBe(true);
      }
      expect((await server.get("/api/runs")).body["items"]).toEqual([]);
    },
  );

  test("with names of prototypes change nothing but what they name", async () => {
    const server = await servedDesk();
    const raw = '{"__proto__":{"who":"Eve"},"constructor":1,"who":"Ada"}';
    const message = `{"messageId":"p","role":"ROLE_USER","parts":[{"data":${raw}}]}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":${message}}}`;
    const answer = await a2aRpc(server, body);
    expect(answer.status).toBe(200);
    const page = await openPage(
      server,
      { threadId: "t1", runId: "1", forwardedProps: { variables: JSON.parse(raw) as JsonObject } },
      { path: "/agui/desk/clerk" },
    );
    expect([200, 400]).toContain(page.status);
    await page.done;
    expect(({} as JsonObject)["who"]).toBeUndefined();
    const { body: runs } = await server.get("/api/runs");
    for (const { run } of runs["items"] as unknown as readonly { run: string }[]) {
      const { body: turns } = await server.get(`/api/runs/${run}/turns?limit=1`);
      const [{ facts }] = turns["items"] as unknown as [{ facts: [{ variables: JsonObject }] }];
      expect(Object.entries(facts[0].variables)).toContainEqual(["who", "Ada"]);
    }
  });
});

test("followers of an A2A task that hang up leave their places to others", async () => {
  const server = await servedDesk({ script: asking, feedLimits: { perRun: 50, inAll: 60 } });
  const run = await waitingTask(server);
  // Held, because a response that nobody refers to is hung up on when memory is tidied.
  const held: Response[] = [];
  const follow = async (signal: AbortSignal): Promise<number> => {
    const response = await fetch(`${server.url}/a2a/desk/clerk/tasks/${run}:subscribe`, {
      method: "POST",
      headers: { "a2a-version": "1.0" },
      signal,
    });
    held.push(response);
    return response.status;
  };
  const gone = new AbortController();
  const all = await Promise.all(Array.from({ length: 50 }, () => follow(gone.signal)));
  expect(new Set(all)).toEqual(new Set([200]));
  expect(await follow(gone.signal)).toBe(429);
  gone.abort();
  const next = new AbortController();
  let free = 0;
  // Each that leaves is noticed when its connection closes; whoever asks until then is told to come back.
  while (free < 50) if ((await follow(next.signal)) === 200) free++;
  expect(held.length).toBeGreaterThan(100);
  next.abort();
});

/** The task that a stream begins with; pieces of it come as they like. */
async function firstTask({ body }: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  while (!text.includes("\n\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the stream ended with ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  const [first = ""] = text.split("\n\n");
  return (JSON.parse(first.slice(6)) as { result: { task: { id: string } } }).result.task.id;
}

describe("a server that goes away in the middle", () => {
  /** The model's second answer waits until the test lets it go. */
  const stuck = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let calls = 0;
    return {
      release: resolve,
      options: {
        script: ending,
        model: (model: { call(asked: never, context: never): Promise<never> }) => ({
          async call(asked: never, context: { readonly signal: AbortSignal }) {
            if (++calls === 2)
              await Promise.race([
                promise,
                new Promise((_, no) => context.signal.addEventListener("abort", no)),
              ]);
            return model.call(asked, context as never);
          },
        }),
      },
    };
  };

  test("leaves a page that asks again with the whole run", async () => {
    const { options } = stuck();
    const before = await servedDesk(options as never);
    const forwardedProps = { variables: { who: "Ada" } };
    const body = { threadId: "t1", runId: "1", messages: said("Hi."), forwardedProps };
    const path = "/agui/desk/clerk";
    const first = await openPage(before, body, { path });
    await first.first("STATE_DELTA");
    await before.stop();
    const broken = await first.done;
    expect(broken.types).not.toContain("RUN_FINISHED");
    const after = await servedDesk({ script: ending, folder: before.folder });
    const page = await post(after, body, path);
    expect(page.last).toMatchObject({
      ...{ type: "RUN_FINISHED", outcome: { type: "success" } },
      result: { text: "Goodbye.", artifacts: { log: "one\ntwo" } },
    });
    expect(page.events[0]?.["metadata"]).toEqual(broken.events[0]?.["metadata"]);
    expect((await after.get("/api/runs")).body["items"]).toHaveLength(1);
  });

  test("leaves a task that the same message finds again, with every artifact and its end", async () => {
    const { options } = stuck();
    const before = await servedDesk(options as never);
    const message = wire();
    const asked = { jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message } };
    const stream = await fetch(`${before.url}/a2a/desk/clerk`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify(asked),
    });
    const id = await firstTask(stream);
    await before.until(id, ({ turns }) => turns > 1);
    await before.stop();
    const after = await servedDesk({ script: ending, folder: before.folder });
    // The same message finds the task that it began.
    const task = taskIn(await sent(after, message));
    expect(task).toMatchObject({ id, status: { state: "TASK_STATE_COMPLETED" } });
    expect(task["artifacts"]).toMatchObject([{ name: "log", parts: [{ text: "one" }, { text: "two" }] }]);
  });
});
