// `packloop mcp` as a program on standard streams: with a store of its own, beside a server that holds the
// store, killed in the middle of a run, and with a client of an older revision.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { call, mcpProgram, stdioClient } from "./mcp-client.ts";
import { asks, ends, pack, start } from "./sample-pack.ts";
import { serveProcess } from "./serve-process.ts";
import { temporaryFolder } from "./served.ts";

test("a client starts a run, sees it wait, sends the event and reads the result", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "served.pack.yaml"), pack);
  const { client, log } = await stdioClient(folder, ["served.pack.yaml"]);
  const { summary: waiting } = await call(client, "start_run", start(asks));
  expect(waiting).toMatchObject({ status: "waiting", state: "gate" });
  await call(client, "send_event", { run: waiting.run, name: "Yes" });
  const { summary } = await call(client, "get_run", { run: waiting.run });
  expect(summary).toMatchObject({ status: "completed", output: { text: "Goodbye." } });
  // A pack named on the command line is a tool.
  expect((await client.listTools()).tools.at(-1)).toMatchObject({
    name: "agent_served",
    inputSchema: { properties: { variables: { required: ["task"] } } },
  });
  expect(log()).toBe("");
  await expect(stdioClient(folder, [])).rejects.toThrow(/did not start: error: .*runs\.db.*(held|open|use)/);
});

test("a killed server is followed by another that goes on with its runs", async () => {
  const folder = temporaryFolder();
  const slow = {
    ...asks,
    states: { ...(asks["states"] as JsonObject), end: [{ text: "Goodbye.", delay_ms: 300 }] },
  };
  const first = await stdioClient(folder, []);
  const { summary: waiting } = await call(first.client, "start_run", start(slow));
  // The event is committed, and the model has not answered yet.
  await call(first.client, "send_event", { run: waiting.run, name: "Yes", wait: false });
  process.kill(first.pid, "SIGKILL");
  const second = await stdioClient(folder, []);
  const answer = await call(second.client, "send_event", { run: waiting.run, name: "Yes" });
  expect(answer.isError).toBe(true);
  const { summary } = await untilEnded(second.client, waiting.run);
  expect(summary).toMatchObject({ status: "completed", output: { text: "Goodbye." } });
});

async function untilEnded(client: Parameters<typeof call>[0], run: string) {
  for (;;) {
    const answer = await call(client, "get_run", { run });
    if (answer.summary.status !== "running") return answer;
  }
}

test("where a server holds the store its runs are the same ones, until it goes away", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "served.pack.yaml"), pack);
  const server = await serveProcess(folder, "--store", "runs.db");
  const { client, log } = await stdioClient(folder, ["served.pack.yaml", "--store", "runs.db"]);
  const { summary: waiting } = await call(client, "start_run", start(asks));
  expect(log()).toContain(server.url);
  const seen = await fetch(`${server.url}/api/runs/${waiting.run}`);
  expect(await seen.json()).toMatchObject({ status: "waiting", state: "gate" });
  const { summary } = await call(client, "send_event", { run: waiting.run, name: "Yes" });
  expect(summary.status).toBe("completed");
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("agent_served");
  await expect(call(client, "get_run", { run: "none" })).rejects.toMatchObject({ code: -32602 });
  await server.stop("SIGKILL");
  await expect(call(client, "list_runs", {})).rejects.toThrow("does not answer");
});

test("a client of the revision before works, and its user is asked", async () => {
  const folder = temporaryFolder();
  const client = new OlderClient({ name: "older", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    expect(params.message).toContain("gate");
    return { action: "accept", content: { event: "Yes" } };
  });
  onTestFinished(() => client.close());
  const env = { PATH: process.env["PATH"] ?? "" };
  await client.connect(new OlderTransport({ ...mcpProgram([]), cwd: folder, env }));
  expect(client.getServerVersion()).toMatchObject({ name: "packloop" });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("start_run");
  const asked = await client.callTool({ name: "start_run", arguments: start(asks) });
  expect(asked.structuredContent).toMatchObject({ status: "completed" });
  const plain = await client.callTool({ name: "start_run", arguments: start(ends) });
  expect(plain.structuredContent).toMatchObject({ status: "completed" });
});
