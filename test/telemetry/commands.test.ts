// Every command that drives runs has telemetry, and goes on where another command left a run.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import { postgresMissing, startPostgres } from "../postgres-server.ts";
import type { Collector } from "./collector.ts";
import { exportTo } from "./exported.ts";
import { text } from "./looping-pack.ts";
import {
  begun,
  collectorHere,
  commandLine,
  idOf,
  packFolder,
  packloop,
  running,
} from "./packloop-process.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const traced = { TRACEPARENT: `00-${TRACE}-b7ad6b7169203331-01` };

const segmentsOf = (collector: Collector, run?: string) =>
  collector
    .spans(run)
    .filter(({ name }) => name.startsWith("invoke_workflow"))
    .map(({ traceId, attributes, links }) => ({
      traceId,
      run: attributes["gen_ai.conversation.id"],
      number: attributes["promptpack.segment"],
      status: attributes["promptpack.status"],
      links: links.map((link) => link.attributes["packloop.link"]),
    }));

const asking = `states:
  work: [{ event: Ask }]
  end: [{ text: Goodbye. }]
`;

describe("what is put into a run", () => {
  test("with --follow goes on in a segment linked to the one before, in the caller's trace", async () => {
    const collector = await collectorHere();
    const cwd = packFolder({ "script.yaml": asking });
    const env = exportTo(collector.url);
    const run = idOf(await packloop(running, { cwd, env }));
    const sent = await packloop(["send", "@", "Yes", "--follow", "--json"], {
      cwd,
      env: { ...env, ...traced },
    });
    expect(sent.code, sent.stderr).toBe(0);
    expect(segmentsOf(collector, run)).toMatchObject([
      { number: 1, status: "waiting", links: [] },
      { number: 2, status: "completed", links: ["previous_segment"], traceId: TRACE },
    ]);
  });

  test("without it ends its segment as stopped, and who resumes is in the same trace", async () => {
    const collector = await collectorHere();
    const cwd = packFolder({ "script.yaml": asking });
    const env = exportTo(collector.url);
    const run = idOf(await packloop(running, { cwd }));
    await packloop(["send", "@", "Yes"], { cwd, env: { ...env, ...traced } });
    expect((await packloop(["resume", "@"], { cwd, env })).code).toBe(0);
    expect(segmentsOf(collector, run)).toMatchObject([
      { number: 1, status: "stopped", traceId: TRACE },
      { number: 2, status: "completed", links: ["previous_segment"], traceId: TRACE },
    ]);
  });
});

test("a fork that is followed is linked to its origin", async () => {
  const collector = await collectorHere();
  const cwd = packFolder();
  const env = exportTo(collector.url);
  const origin = idOf(await packloop(running, { cwd, env }));
  const fork = await packloop(["fork", `${origin}@2`, "--follow", "--json"], { cwd, env });
  expect(fork.code, fork.stderr).toBe(0);
  expect(segmentsOf(collector, idOf(fork))).toMatchObject([
    { number: 1, status: "completed", links: ["fork_origin"] },
  ]);
});

test("a conversation is a segment for each message, and one more where it is gone on with", async () => {
  const collector = await collectorHere();
  const script = "states: { work: [{ text: one }, { text: two }, { text: three }] }\n";
  const cwd = packFolder({ "script.yaml": script });
  const env = { ...exportTo(collector.url), ...traced };
  const args = ["chat", "looping.pack.yaml", "--script", "script.yaml", "--var", "task=tides"];
  await packloop(args, { cwd, env, input: "hello\nand now\n" });
  const resumed = await packloop(["chat", "--resume", "@"], { cwd, env, input: "still there\n" });
  expect(resumed.code, resumed.stderr).toBe(10);
  const segments = segmentsOf(collector);
  expect(segments.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  expect(new Set(segments.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
});

test("a goal is a workflow like any other", async () => {
  const collector = await collectorHere();
  const script = `states:
  frame: [{ text: I give up. }]
tools: { look: [{ ok: nothing }] }
`;
  const cwd = packFolder({ "script.yaml": script });
  const env = { ...exportTo(collector.url), ...traced };
  const ran = await packloop(["goal", "find it", "--script", "script.yaml", "--json"], { cwd, env });
  expect(segmentsOf(collector)).toMatchObject([{ run: idOf(ran), number: 1, traceId: TRACE }]);
});

test("an MCP server on standard streams has telemetry of the runs it starts", async () => {
  const collector = await collectorHere();
  const cwd = packFolder();
  const program = commandLine(["mcp"], { env: exportTo(collector.url) });
  const client = new Client({ name: "test", version: "1.0.0" });
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ ...program, cwd }));
  const states = { work: [{ event: "Done" }], end: [{ text: "Goodbye." }] };
  const input = { pack: text, variables: { task: "tides" }, script: { states } };
  const started = await client.callTool({ name: "start_run", arguments: input });
  const { run } = started.structuredContent as { run: string };
  await collector.segments(run, 1);
  expect(segmentsOf(collector, run)).toMatchObject([{ number: 1, status: "completed" }]);
});

describe.skipIf(postgresMissing() !== undefined)("a worker", () => {
  test("goes on with what another process began, linked to it, and sends the rest when it is stopped", async () => {
    await using database = await startPostgres();
    const collector = await collectorHere();
    const env = { ...exportTo(collector.url), PACKLOOP_STORE: database.url() };
    const cwd = packFolder();
    const run = idOf(await packloop([...running, "--detach"], { cwd, env }));
    const worker = begun(["worker"], { cwd, env });
    await collector.segments(run, 2);
    worker.child.kill("SIGTERM");
    expect((await worker.ran).code, worker.said()).toBe(0);
    expect(segmentsOf(collector, run)).toMatchObject([
      { number: 1, status: "stopped", links: [] },
      { number: 2, status: "completed", links: ["previous_segment"] },
    ]);
  });
});
