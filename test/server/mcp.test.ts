// The MCP server at /mcp, by the official client: runs are started, seen to wait, moved on and read.

import { readFileSync } from "node:fs";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { RUN_TOOLS } from "../../src/server/mcp/run-tools.ts";
import { principalOf, tokenOf } from "./callers.ts";
import { call, httpClient } from "./mcp-client.ts";
import { callTool, rpc } from "./mcp-rpc.ts";
import { asks, ends, pack, start } from "./sample-pack.ts";
import { served } from "./served.ts";

const NAMES = [
  ...["list_runs", "get_run", "get_trace", "check_pack"],
  ...["start_run", "send_event", "send_message", "answer", "cancel_run"],
];

test("a client starts a run, sees it wait, sends the event and reads the result", async () => {
  const { url } = await served();
  const client = await httpClient(url);
  const { summary: waiting } = await call(client, "start_run", start(asks));
  expect(waiting).toMatchObject({ status: "waiting", state: "gate" });
  expect(waiting.waiting_for).toMatchObject([{ kind: "event", events: ["Yes", "No"] }]);
  const { summary: ended, isError } = await call(client, "send_event", { run: waiting.run, name: "Yes" });
  expect({ status: ended.status, isError }).toEqual({ status: "completed", isError: false });
  const { summary: read } = await call(client, "get_run", { run: waiting.run });
  expect(read.output).toEqual({ text: "Goodbye.", artifacts: { note: "seen" } });
});

test("a client of the older handshake does the same", async () => {
  const { url } = await served();
  const client = new OlderClient({ name: "older", version: "1.0.0" });
  onTestFinished(() => client.close());
  await client.connect(new OlderTransport(new URL(`${url}/mcp`)));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(NAMES);
  const waiting = await client.callTool({ name: "start_run", arguments: start(asks) });
  const { run, status } = waiting.structuredContent as { run: string; status: string };
  expect(status).toBe("waiting");
  const ended = await client.callTool({ name: "send_event", arguments: { run, name: "Yes" } });
  expect(ended.structuredContent).toMatchObject({ status: "completed" });
});

describe("the list of tools", () => {
  test("is the same every time, and says how long it holds and for whom", async () => {
    const { url } = await served();
    const { result } = await rpc(url, "tools/list", {});
    expect((result["tools"] as JsonObject[]).map(({ name }) => name)).toEqual(NAMES);
    expect(result).toMatchObject({ ttlMs: 60_000, cacheScope: "private" });
    expect(result["tools"]).toEqual((await rpc(url, "tools/list", {})).result["tools"]);
  });

  test("says what goes in and what comes out", async () => {
    const { url } = await served();
    const { result } = await rpc(url, "tools/list", {});
    for (const tool of result["tools"] as JsonObject[]) {
      expect(tool).toMatchObject({
        inputSchema: { type: "object", additionalProperties: false },
        outputSchema: { type: "object" },
      });
      expect(JSON.stringify(tool)).not.toContain("$ref");
    }
  });
});

test("docs/mcp.md names every tool and what a token needs for it", async () => {
  const page = readFileSync(new URL("../../docs/mcp.md", import.meta.url), "utf8");
  const documented = [...page.matchAll(/^\| `(\w+)` \|.*\| `(\w+:\w+)`/gm)].map(([, name, scope]) => [
    name,
    scope,
  ]);
  expect(documented).toEqual(RUN_TOOLS.map(({ name, scopes }) => [name, scopes[0]]));
});

describe("what can be read", () => {
  test("is the list of runs, the way each took and a check of a pack", async () => {
    const { url } = await served();
    const client = await httpClient(url);
    const { summary } = await call(client, "start_run", start(ends));
    await call(client, "start_run", start(asks));
    const list = await client.callTool({ name: "list_runs", arguments: { status: ["completed"] } });
    expect(list.structuredContent).toMatchObject({ items: [{ run: summary.run }], next_cursor: null });
    const trace = await client.callTool({ name: "get_trace", arguments: { run: summary.run, limit: 2 } });
    expect(trace.structuredContent).toMatchObject({ rows: [{ to: "work" }, { event: "Again" }] });
    const { next_after: after } = trace.structuredContent as { next_after: number };
    const rest = await client.callTool({ name: "get_trace", arguments: { run: summary.run, after } });
    expect(rest.structuredContent).toMatchObject({ rows: [{ to: "end" }], next_after: null });
    const check = await client.callTool({ name: "check_pack", arguments: { source: pack } });
    expect(check.structuredContent).toMatchObject({
      errors: 0,
      bounds: { "pack.yaml": { terminates: true } },
    });
  });

  test("is the trace of every run and its artifacts, as resources", async () => {
    const { url } = await served();
    const client = await httpClient(url);
    const { summary } = await call(client, "start_run", start(ends));
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([`packloop://runs/${summary.run}/trace`]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "packloop://runs/{id}/trace",
      "packloop://runs/{id}/artifacts/{name}",
    ]);
    const trace = await client.readResource({ uri: resources[0]?.uri ?? "" });
    const [first] = trace.contents as readonly { readonly text: string; readonly mimeType: string }[];
    expect(first?.mimeType).toBe("application/json");
    expect(JSON.parse(first?.text ?? "")).toMatchObject([{ to: "work" }, { to: "work" }, { to: "end" }]);
    const note = await client.readResource({ uri: `packloop://runs/${summary.run}/artifacts/note` });
    expect(note.contents).toMatchObject([{ mimeType: "text/plain", text: "two" }]);
    for (const uri of [
      `packloop://runs/${summary.run}/artifacts/none`,
      "packloop://runs/none/trace",
      "packloop://runs/%/trace",
      "packloop://elsewhere",
    ])
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
  });
});

describe("a run", () => {
  test("that has the key of another is that one", async () => {
    const { url } = await served();
    const client = await httpClient(url);
    const first = await call(client, "start_run", start(ends, { key: "once" }));
    const again = await call(client, "start_run", start(ends, { key: "once" }));
    expect(again.summary.run).toBe(first.summary.run);
    const other = await call(client, "start_run", start(asks, { key: "once" }));
    expect([other.isError, other.text]).toEqual([true, expect.stringContaining("once")]);
  });

  test("is one run however often its sender repeats the call with its own key", async () => {
    const { url } = await served();
    const meta = { "packloop/key": "r_1/4" };
    const first = await callTool(url, "start_run", start(ends), { meta });
    const again = await callTool(url, "start_run", start(ends), { meta });
    const runOf = ({ result }: typeof first) => (result["structuredContent"] as JsonObject)["run"];
    expect(runOf(again)).toBe(runOf(first));
  });

  test("that nobody waits for is answered as it has begun", async () => {
    const server = await served();
    const client = await httpClient(server.url);
    const { summary } = await call(client, "start_run", start(asks, { wait: false }));
    await server.until(summary.run, ({ status }) => status === "waiting");
  });

  test("that is cancelled is no error to whoever cancels it", async () => {
    const { url } = await served();
    const client = await httpClient(url);
    const { summary } = await call(client, "start_run", start(asks));
    const cancelled = await call(client, "cancel_run", { run: summary.run, reason: "enough" });
    expect([cancelled.isError, cancelled.summary.status]).toEqual([false, "cancelled"]);
  });

  test("that fails is an error with everything that is known of it", async () => {
    const { url } = await served();
    const client = await httpClient(url);
    const answer = await call(client, "start_run", start({ states: { work: [{ fail: { status: 400 } }] } }));
    expect([answer.isError, answer.summary.status]).toEqual([true, "failed"]);
  });

  test("tells a client that asks how far it is", async () => {
    const { url } = await served();
    const client = await httpClient(url);
    const told: string[] = [];
    await client.callTool(
      { name: "start_run", arguments: start(asks) },
      { onprogress: ({ message }) => void told.push(message ?? "") },
    );
    expect(told.at(-1)).toBe("waiting in gate");
  });
});

describe("an approval", () => {
  const gated = { settings: { ...noSettings("."), approvals: ["look"] } };

  test("is given by its step, for what was read and nothing else", async () => {
    const { url } = await served(gated);
    const client = await httpClient(url);
    const { summary } = await call(client, "start_run", start(asks));
    const [wait] = summary.waiting_for;
    const step = wait?.step ?? 0;
    const stale = { run: summary.run, step, decision: "approve", sha256: "0".repeat(64) };
    expect(await call(client, "answer", stale)).toMatchObject({ isError: true });
    const both = { run: summary.run, step, decision: "approve", result: 1 };
    await expect(call(client, "answer", both)).rejects.toMatchObject({ code: -32602 });
    const approved = { run: summary.run, step, decision: "approve", sha256: wait?.sha256 ?? "" };
    const answer = await call(client, "answer", approved);
    expect(answer.summary).toMatchObject({ status: "waiting", state: "gate" });
  });

  test("that is refused leaves the call undone", async () => {
    const { url } = await served(gated);
    const client = await httpClient(url);
    const { summary } = await call(client, "start_run", start(asks));
    const step = summary.waiting_for[0]?.step ?? 0;
    await call(client, "answer", { run: summary.run, step, decision: "reject", reason: "no" });
    const { summary: after } = await call(client, "get_run", { run: summary.run });
    expect(after).toMatchObject({ state: "gate", used: { tool_calls: 0 } });
  });
});

describe("what is wrong", () => {
  test("with a request is an error of the protocol", async () => {
    const { url } = await served();
    const bad: readonly (readonly [string, JsonObject, string])[] = [
      ["get_run", { run: "none" }, "`none` does not exist"],
      ["get_run", {}, "/run"],
      ["get_run", { run: "x", other: 1 }, "other"],
      ["send_event", { run: "none", name: "Yes" }, "`none` does not exist"],
      ["start_run", { digest: "none" }, "there is no pack"],
      ["start_run", {}, "either `pack`"],
      ["list_runs", { cursor: "?" }, "cursor"],
      ["nothing", {}, "`nothing` is not a tool"],
    ];
    for (const [name, args, words] of bad) {
      const { error } = await callTool(url, name, args);
      expect(error, name).toMatchObject({ code: -32602, message: expect.stringContaining(words) });
    }
  });

  test("with what is said to a run is a result that says what would be right", async () => {
    const { url } = await served();
    const client = await httpClient(url);
    const { summary } = await call(client, "start_run", start(asks));
    const wrong = await call(client, "send_event", { run: summary.run, name: "Maybe" });
    expect(wrong.isError).toBe(true);
    expect(wrong.text).toContain("Yes");
    const { summary: same } = await call(client, "get_run", { run: summary.run });
    expect(same.turns).toBe(summary.turns);
  });

  test("with a pack or its variables comes with every finding", async () => {
    const { url } = await served();
    const { result } = await callTool(url, "start_run", { pack: pack.replace("Done: end", "Done: ende") });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result["content"])).toContain("PP203");
    const missing = await callTool(url, "start_run", { pack, script: ends });
    expect(missing.result).toMatchObject({ isError: true });
    expect(JSON.stringify(missing.result["content"])).toContain("task");
  });

  test("with the way it is asked has the codes of the revision", async () => {
    const { url } = await served();
    const other = await rpc(url, "tools/list", {}, { headers: { "mcp-method": "tools/call" } });
    expect([other.status, other.error?.["code"]]).toEqual([400, -32020]);
    const version = { "io.modelcontextprotocol/protocolVersion": "2031-01-01" };
    const headers = { "mcp-protocol-version": "2031-01-01" };
    const later = await rpc(url, "tools/list", {}, { meta: version, headers });
    expect([later.status, later.error?.["code"]]).toEqual([400, -32022]);
    const task = await rpc(url, "tasks/get", { taskId: "x" });
    expect(task.error).toMatchObject({ code: -32021 });
    const page = await fetch(`${url}/mcp`, { headers: { accept: "text/event-stream" } });
    expect(page.status).toBe(405);
    const foreign = await fetch(`${url}/mcp`, { method: "POST", headers: { origin: "http://evil.example" } });
    expect(foreign.status).toBe(403);
  });
});

describe("a token", () => {
  const locked = { tokenNeeded: true, principalOf };

  test("is needed where the server asks for one", async () => {
    const { url } = await served(locked);
    const response = await fetch(`${url}/mcp`, { method: "POST", body: "{}" });
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  test("is shown the tools it may use, and no others work", async () => {
    const { url } = await served(locked);
    const reader = await httpClient(url, { token: tokenOf("runs:read") });
    const names = (await reader.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(["list_runs", "get_run", "get_trace", "check_pack"]);
    await expect(call(reader, "start_run", start(ends))).rejects.toMatchObject({ code: -32602 });
    const sender = await httpClient(url, { token: tokenOf("events:send") });
    const sends = (await sender.listTools()).tools.map(({ name }) => name);
    expect(sends).toEqual(["send_event", "send_message", "answer"]);
    await expect(sender.listResources()).rejects.toThrow("runs:read");
  });

  test("that may answer but not approve cannot approve", async () => {
    const { url } = await served({ ...locked, settings: { ...noSettings("."), approvals: ["look"] } });
    const admin = await httpClient(url, { token: tokenOf("admin") });
    const { summary } = await call(admin, "start_run", start(asks));
    const step = summary.waiting_for[0]?.step ?? 0;
    const sender = await httpClient(url, { token: tokenOf("events:send") });
    const answer = await call(sender, "answer", { run: summary.run, step, decision: "approve" });
    expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining("approvals:decide")]);
  });

  test("is named in the journal", async () => {
    const { url, store } = await served(locked);
    const admin = await httpClient(url, { token: tokenOf("admin") });
    const { summary } = await call(admin, "start_run", start(asks));
    const sender = await httpClient(url, { token: tokenOf("events:send") });
    await call(sender, "send_event", { run: summary.run, name: "Yes", by: "ann" });
    const rows = await store.rows(summary.run, { from: 1, to: 99, limit: 99 });
    expect(JSON.stringify(rows)).toContain("ann (with events:send)");
  });
});
