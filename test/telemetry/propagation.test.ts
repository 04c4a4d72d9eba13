// W3C Trace Context from a request to a server, through a run, to everything that the run calls.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { webhookPost } from "../../src/cli/runs/webhook-post.ts";
import type { Post } from "../../src/server/webhook/webhook-sender.ts";
import { bodyOf, testServer } from "../adapter/test-server.ts";
import { asks, start } from "../server/sample-pack.ts";
import { type Served, served } from "../server/served.ts";
import { CLIENT } from "./collector.ts";
import { exportedHere } from "./exported.ts";
import { calledWorld, pack } from "./world.ts";

const collector = exportedHere();
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const given = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: "rojo=00f067aa0ba902b7" };

beforeAll(() => {
  process.env["PACKLOOP_OTEL_BAGGAGE"] = "tenant, region";
});
afterAll(() => {
  delete process.env["PACKLOOP_OTEL_BAGGAGE"];
});

async function startedIn(server: Served, body: JsonObject, headers: Readonly<Record<string, string>>) {
  const started = await server.post("/api/runs", body, headers);
  expect(started.status, JSON.stringify(started.body)).toBe(201);
  return String(started.body["run"]);
}

const isOver = ({ status }: { status: string }) => status === "completed";

describe("a request in a trace", () => {
  test("starts a run in it, and each call carries the span it is made in", async () => {
    const world = await calledWorld();
    const server = await served({ settings: world.settings });
    const baggage = "tenant=blue;p=1,user=alice,region=north";
    const run = await startedIn(server, { pack }, { ...given, baggage });
    await server.until(run, isOver);
    const spans = await collector().segments(run, 1);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    const workflow = spans.find(({ name }) => name === "invoke_workflow Called");
    expect(workflow?.parentSpanId).toBe(PARENT);
    const ids = (name: string) => spans.flatMap((span) => (span.name === name ? [span.spanId] : []));
    const calls = world.model.map(({ traceparent }) => String(traceparent).split("-"));
    expect(calls.map(([, trace, , flags]) => [trace, flags])).toEqual(calls.map(() => [TRACE, "01"]));
    expect(new Set(calls.map(([, , span]) => span))).toEqual(new Set(ids("chat tide-1")));
    expect(world.tool.map(({ traceparent }) => traceparent)).toEqual([
      `00-${TRACE}-${ids("execute_tool look")[0]}-01`,
    ]);
    for (const headers of [...world.model, ...world.tool])
      expect(headers).toMatchObject({
        tracestate: given.tracestate,
        baggage: "tenant=blue;p=1,region=north",
      });
  });

  test("reaches an MCP server in `_meta`, under a span of the request", async () => {
    const world = await calledWorld();
    const server = await served({ settings: world.settings });
    const run = await startedIn(server, { pack }, given);
    await server.until(run, isOver);
    const spans = await collector().segments(run, 1);
    const tool = spans.find(({ name }) => name === "execute_tool echo");
    const isCall = ({ parentSpanId }: { parentSpanId: string }) => parentSpanId === tool?.spanId;
    await collector().until(() => collector().spans().some(isCall));
    const call = collector().spans().find(isCall);
    expect([call?.name, call?.kind]).toEqual(["tools/call echo", CLIENT]);
    expect(call?.attributes).toMatchObject({ "mcp.method.name": "tools/call", "gen_ai.tool.name": "echo" });
    expect(world.mcp).toMatchObject([
      { traceparent: `00-${TRACE}-${call?.spanId}-01`, tracestate: given.tracestate },
    ]);
    expect(world.mcp[0]).not.toHaveProperty("baggage");
  });

  test("says in its spans which model answered and what it took", async () => {
    const world = await calledWorld();
    const server = await served({ settings: world.settings });
    const run = await startedIn(server, { pack }, given);
    await server.until(run, isOver);
    const spans = await collector().segments(run, 1);
    const [chat] = spans.filter(({ attributes }) => attributes["packloop.step"] === 1);
    expect(chat?.attributes).toMatchObject({
      "gen_ai.provider.name": "compatible",
      "gen_ai.request.model": "tide-1",
      "gen_ai.response.model": "tide-1-2026",
      "gen_ai.response.id": "answer-0",
      "gen_ai.response.finish_reasons": ["tool_call"],
      "gen_ai.usage.input_tokens": 30,
      "gen_ai.usage.output_tokens": 4,
      "gen_ai.usage.cache_read.input_tokens": 12,
      "gen_ai.usage.reasoning.output_tokens": 3,
    });
  });

  test.each([
    ["of another length", "00-0af7651916cd43dd8448eb211c8031-b7ad6b7169203331-01"],
    ["of zeros", "00-00000000000000000000000000000000-b7ad6b7169203331-01"],
    ["in capitals", given.traceparent.toUpperCase()],
    ["of no version", given.traceparent.replace("00-", "ff-")],
    ["of nothing", "x"],
  ])("that cannot be read, %s, begins a new one", async (_what, traceparent) => {
    const server = await served();
    const run = await startedIn(server, { ...start(asks) }, { traceparent });
    await server.until(run, ({ status }) => status === "waiting");
    const [segment] = await collector().segments(run, 1);
    expect(segment?.traceId).toMatch(/^[\da-f]{32}$/);
    expect(segment?.traceId).not.toBe(TRACE);
  });

  test("moves a waiting run in that trace; without one the run stays in the trace it was started in", async () => {
    const server = await served();
    const other = "4bf92f3577b34da6a3ce929d0e0e4736";
    const event = { name: "Yes", by: "alice" };
    const statesOf = async (headers: Readonly<Record<string, string>>) => {
      const run = await startedIn(server, { ...start(asks) }, given);
      await server.until(run, ({ status }) => status === "waiting");
      await server.post(`/api/runs/${run}/events`, event, headers);
      await server.until(run, isOver);
      const spans = await collector().segments(run, 2);
      const segments = spans.filter(({ name }) => name.startsWith("invoke_workflow"));
      return segments.map(({ traceId, links }) => [traceId, links.length]);
    };
    expect(await statesOf({ traceparent: `00-${other}-${PARENT}-01` })).toEqual([
      [TRACE, 0],
      [other, 1],
    ]);
    expect(await statesOf({})).toEqual([
      [TRACE, 0],
      [TRACE, 1],
    ]);
  });
});

describe("what is told to others", () => {
  test("by webhooks carries the trace, as a header and in the event", async () => {
    const heard: { readonly header: string | undefined; readonly event: JsonObject }[] = [];
    const ended = Promise.withResolvers<void>();
    const hook = await testServer(async (request, response) => {
      const event = JSON.parse(await bodyOf(request)) as JsonObject;
      heard.push({ header: String(request.headers["traceparent"]), event });
      response.end();
      if (event["type"] === "workflow.waiting") ended.resolve();
    });
    const post: Post = webhookPost([hook.place]);
    const server = await served({ post });
    await server.post("/api/webhooks", { url: hook.url });
    const run = await startedIn(server, { ...start(asks) }, given);
    await ended.promise;
    const spans = await collector().segments(run, 1);
    const segment = spans.find(({ name }) => name.startsWith("invoke_workflow"));
    const expected = `00-${TRACE}-${segment?.spanId}-01`;
    expect(heard.length).toBeGreaterThan(3);
    for (const { header, event } of heard) {
      expect([header, event["traceparent"]]).toEqual([expected, expected]);
      expect(event["tracestate"]).toBe(given.tracestate);
    }
  });
});
