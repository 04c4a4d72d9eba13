// Spans of real runs, as a collector receives them from the SDK.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createEngine, Fault, type ModelPort } from "../../src/library/packloop.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { CLIENT, ERROR, INTERNAL, type ReceivedSpan, UNSET } from "./collector.ts";
import { exportedHere } from "./exported.ts";
import { ends, looping, task } from "./looping-pack.ts";

const collector = exportedHere();

const engineWith = (states: JsonObject, options: Partial<Parameters<typeof createEngine>[0]> = {}) =>
  createEngine({
    model: { script: { states: { ...ends, ...states } } },
    tools: { look: async () => ({ light: "on" }) },
    retry: { attempts: 3, firstMs: 1, mostMs: 1 },
    ...options,
  });

const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan[] =>
  spans.filter((span) => span.name === name).sort((a, b) => Number(a.start - b.start));

function one(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = named(spans, name);
  expect(found.map((span) => span.name)).toEqual([name]);
  return found[0] as ReceivedSpan;
}

const segmentsIn = (spans: readonly ReceivedSpan[]): ReceivedSpan[] =>
  named(spans, "invoke_workflow Looping");

describe("a run that ends", () => {
  test("is a tree of a workflow, its visits, and the calls in them", async () => {
    await using engine = await engineWith({
      work: [{ calls: [{ tool: "look", args: { where: "here" } }] }, { event: "Done" }],
    });
    const run = await engine.start(looping(), task);
    await run.result();
    const spans = await collector().segments(run.id, 1);
    expect(spans.map(({ name }) => name).sort()).toEqual([
      "chat script",
      "chat script",
      "chat script",
      "execute_tool look",
      "invoke_agent Closer",
      "invoke_agent Worker",
      "invoke_workflow Looping",
    ]);
    const workflow = one(spans, "invoke_workflow Looping");
    const worker = one(spans, "invoke_agent Worker");
    const closer = one(spans, "invoke_agent Closer");
    const tool = one(spans, "execute_tool look");
    const chats = named(spans, "chat script");
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(workflow.parentSpanId).toBe("");
    expect([worker, closer].map(({ parentSpanId }) => parentSpanId)).toEqual([
      workflow.spanId,
      workflow.spanId,
    ]);
    expect(tool.parentSpanId).toBe(worker.spanId);
    expect(chats.map(({ parentSpanId }) => parentSpanId)).toEqual([
      worker.spanId,
      worker.spanId,
      closer.spanId,
    ]);
    expect(spans.map(({ status }) => status)).toEqual(spans.map(() => UNSET));
    expect([workflow, worker, tool].map(({ kind }) => kind)).toEqual([INTERNAL, INTERNAL, INTERNAL]);
    expect(chats.map(({ kind }) => kind)).toEqual([CLIENT, CLIENT, CLIENT]);
  });

  test("says what it is in the attributes of the conventions", async () => {
    await using engine = await engineWith({
      work: [
        { calls: [{ tool: "look" }], usage: { input_tokens: 120, output_tokens: 7 } },
        { event: "Done" },
      ],
    });
    const run = await engine.start(looping(), task);
    const result = await run.result();
    const spans = await collector().segments(run.id, 1);
    expect(one(spans, "invoke_workflow Looping").attributes).toEqual({
      "gen_ai.operation.name": "invoke_workflow",
      "gen_ai.workflow.name": "Looping",
      "gen_ai.conversation.id": run.id,
      "promptpack.pack.id": "looping",
      "promptpack.pack.version": "2.1.0",
      "promptpack.pack.digest": result.pack.digest,
      "promptpack.segment": 1,
      "promptpack.status": "completed",
    });
    expect(one(spans, "invoke_agent Worker").attributes).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.id": "work",
      "gen_ai.agent.name": "Worker",
      "gen_ai.agent.version": "1.4.0",
      "gen_ai.conversation.id": run.id,
      "promptpack.state": "work",
      "promptpack.visit": 1,
      "promptpack.cause": "entry",
    });
    expect(named(spans, "chat script")[0]?.attributes).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "script",
      "gen_ai.request.model": "script",
      "gen_ai.request.temperature": 0.2,
      "gen_ai.request.max_tokens": 500,
      "gen_ai.conversation.id": run.id,
      "gen_ai.usage.input_tokens": 120,
      "gen_ai.usage.output_tokens": 7,
      "gen_ai.response.finish_reasons": ["tool_call"],
      "packloop.step": 1,
      "packloop.attempt": 1,
    });
    expect(one(spans, "execute_tool look").attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "look",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "1.1",
      "gen_ai.conversation.id": run.id,
      "packloop.step": 2,
      "packloop.attempt": 1,
      "packloop.tool.tier": "write",
      "packloop.tool.approval": "not_needed",
    });
  });

  test("has spans that lie within each other and last as long as what they stand for", async () => {
    await using engine = await engineWith({ work: [{ event: "Done", delay_ms: 40 }] });
    const run = await engine.start(looping(), task);
    await run.result();
    const spans = await collector().segments(run.id, 1);
    const workflow = one(spans, "invoke_workflow Looping");
    const [first] = named(spans, "chat script");
    expect(Number((first?.end ?? 0n) - (first?.start ?? 0n))).toBeGreaterThanOrEqual(39e6);
    for (const span of spans) {
      expect(span.start).toBeGreaterThanOrEqual(workflow.start);
      expect(span.end).toBeLessThanOrEqual(workflow.end);
      expect(span.end).toBeGreaterThanOrEqual(span.start);
    }
  });

  test("is redirected where a state has no visit left, and says from where", async () => {
    await using engine = await engineWith({ work: [{ event: "Bounded" }], bounded: [{ event: "Again" }] });
    const run = await engine.start(looping(), task);
    await run.result();
    const spans = await collector().segments(run.id, 1);
    expect(one(spans, "invoke_agent Closer").attributes).toMatchObject({
      "promptpack.state": "end",
      "promptpack.cause": "redirect",
      "promptpack.redirected_from": ["bounded"],
    });
  });
});

describe("what goes wrong", () => {
  test("on the way to a model is a span for each attempt, the failed ones with their code", async () => {
    await using engine = await engineWith({
      work: [{ fail: { status: 429 } }, { fail: { status: 503 } }, { event: "Done" }],
    });
    const run = await engine.start(looping(), task);
    await run.result();
    const spans = await collector().segments(run.id, 1);
    const chats = named(spans, "chat script").sort((a, b) => attemptOf(a) - attemptOf(b));
    const first = chats.filter(({ attributes }) => attributes["packloop.step"] === 1);
    expect(first.map(({ attributes }) => attributes["packloop.attempt"])).toEqual([1, 2, 3]);
    expect(first.map(({ attributes }) => attributes["error.type"])).toEqual([
      "http_429",
      "http_503",
      undefined,
    ]);
    expect(first.map(({ status }) => status)).toEqual([ERROR, ERROR, UNSET]);
    expect(one(spans, "invoke_workflow Looping").status).toBe(UNSET);
  });

  test("in a tool marks its span, and not the run that goes on", async () => {
    const look = async () => {
      throw new Error("the lamp is broken");
    };
    await using engine = await engineWith(
      { work: [{ calls: [{ tool: "look" }] }, { event: "Done" }] },
      { tools: { look } },
    );
    const run = await engine.start(looping(), task);
    await run.result();
    const spans = await collector().segments(run.id, 1);
    const tool = one(spans, "execute_tool look");
    expect([tool.status, tool.attributes["error.type"]]).toEqual([ERROR, "tool_error"]);
    expect(tool.message).toBe("");
    expect(one(spans, "invoke_workflow Looping").status).toBe(UNSET);
  });

  test("for good makes the workflow an error with the reason's code", async () => {
    const model: ModelPort = {
      call: () => Promise.reject(new Fault("refusal", "the model refused", { retry: "never" })),
    };
    await using engine = await engineWith({}, { model });
    const run = await engine.start(looping(), task);
    const { status, reason } = await run.result();
    const [workflow] = segmentsIn(await collector().segments(run.id, 1));
    expect(status).toBe("failed");
    expect(workflow?.status).toBe(ERROR);
    expect(workflow?.attributes).toMatchObject({
      "promptpack.status": "failed",
      "error.type": reason?.code,
    });
  });

  test("with a budget is an error named after it", async () => {
    await using engine = await engineWith({ work: [{ calls: [{ tool: "look" }] }] });
    const run = await engine.start(looping(), task);
    expect((await run.result()).status).toBe("budget_exhausted");
    const [workflow] = segmentsIn(await collector().segments(run.id, 1));
    expect([workflow?.status, workflow?.attributes["error.type"]]).toEqual([ERROR, "budget_exhausted"]);
  });

  test("is nothing where somebody cancels", async () => {
    await using engine = await engineWith({ work: [{ event: "Done", delay_ms: 600_000 }] });
    const run = await engine.start(looping(), task);
    await run.cancel({ by: "alice" });
    const spans = await collector().segments(run.id, 1);
    const [workflow] = segmentsIn(spans);
    expect([workflow?.status, workflow?.attributes["promptpack.status"]]).toEqual([UNSET, "cancelled"]);
    await collector().until(() => named(collector().spans(run.id), "chat script").length === 1);
    const chat = one(collector().spans(run.id), "chat script");
    expect([chat.status, chat.attributes["packloop.given_up"]]).toEqual([UNSET, true]);
  });
});

const attemptOf = ({ attributes }: ReceivedSpan): number => Number(attributes["packloop.attempt"]);

describe("a wait", () => {
  test("for a key says so, and is no error", async () => {
    const keyless: ModelPort = {
      call: () => Promise.reject(new Fault("no_key", "it needs a key", { retry: "never" })),
    };
    await using engine = await createEngine({ model: keyless });
    const run = await engine.start(looping(), task);
    expect(await run.result()).toMatchObject({ status: "waiting", held: { by: "packloop" } });
    const [workflow] = segmentsIn(await collector().segments(run.id, 1));
    expect(workflow?.events.map(({ name, attributes }) => [name, attributes["kind"]])).toEqual([
      ["packloop.waiting", "auth"],
    ]);
    expect([workflow?.status, workflow?.attributes["promptpack.status"]]).toEqual([UNSET, "waiting"]);
  });

  test("ends a segment with what is waited for; what follows is another one with a link to it", async () => {
    await using engine = await engineWith({ work: [{ event: "Ask" }] });
    const run = await engine.start(looping(), task);
    await run.result();
    await run.send("Yes", { by: "alice" });
    await run.result();
    const spans = await collector().segments(run.id, 2);
    const [first, second] = segmentsIn(spans).sort(
      (a, b) => Number(a.attributes["promptpack.segment"]) - Number(b.attributes["promptpack.segment"]),
    );
    expect(first?.attributes["promptpack.status"]).toBe("waiting");
    expect(first?.events.map(({ name, attributes }) => [name, attributes["kind"]])).toEqual([
      ["packloop.waiting", "event"],
    ]);
    expect(second?.attributes["promptpack.segment"]).toBe(2);
    expect(second?.links).toMatchObject([
      {
        traceId: first?.traceId,
        spanId: first?.spanId,
        attributes: { "packloop.link": "previous_segment" },
      },
    ]);
    expect(second?.traceId).not.toBe(first?.traceId);
    expect(first?.end).toBeLessThanOrEqual(second?.start ?? 0n);
    const states = named(spans, "invoke_agent Closer").map(
      ({ attributes }) => attributes["promptpack.state"],
    );
    expect(states).toEqual(["gate", "end"]);
  });

  test("for an approval goes on in the same visit, and the call says that it was approved", async () => {
    await using engine = await engineWith(
      { work: [{ calls: [{ tool: "look", args: {} }] }, { event: "Done" }] },
      { approvals: ["look"] },
    );
    const run = await engine.start(looping(), task);
    const waiting = await run.result();
    await run.approve(waiting.waiting_for[0]?.step ?? 0, { by: "alice" });
    await run.result();
    const spans = await collector().segments(run.id, 2);
    const kinds = segmentsIn(spans).flatMap(({ events }) =>
      events.map(({ attributes }) => attributes["kind"]),
    );
    expect(kinds).toEqual(["approval"]);
    const visits = named(spans, "invoke_agent Worker").map(({ attributes }) => [
      attributes["promptpack.visit"],
      attributes["promptpack.cause"],
    ]);
    expect(visits).toEqual([
      [1, "entry"],
      [1, "resumed"],
    ]);
    expect(one(spans, "execute_tool look").attributes["packloop.tool.approval"]).toBe("given");
  });
});

describe("a run that another process left", () => {
  test("goes on in a new segment that is linked to what the journal says of the last one", async () => {
    const store = memoryStore();
    const lost = await engineWith({ work: [{ event: "Done", delay_ms: 600_000 }] }, { store });
    const run = await lost.start(looping(), task);
    // Its process is gone: nothing of it ends.
    await using engine = await engineWith({ work: [{ event: "Done" }] }, { store });
    const again = await engine.resume(run.id);
    await again.result();
    const rows = await store.rows(run.id, { from: 1, to: 9, limit: 9 });
    const traced = rows.flatMap(({ facts }) =>
      facts.flatMap((fact) => (fact.type === "noted" && fact.what === "traced" ? [fact] : [])),
    );
    const [segment] = segmentsIn(await collector().segments(run.id, 1));
    expect(traced.map((note) => note.segment)).toEqual([1, 2]);
    expect(segment?.attributes["promptpack.segment"]).toBe(2);
    expect(segment?.links.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)).toEqual([
      traced[0]?.traceparent,
    ]);
    expect(traced[1]?.traceparent).toBe(`00-${segment?.traceId}-${segment?.spanId}-01`);
  });

  test("that is stopped ends its segment as stopped", async () => {
    const engine = await engineWith({ work: [{ event: "Done", delay_ms: 600_000 }] });
    const run = await engine.start(looping(), task);
    await engine.close(0);
    const [segment] = segmentsIn(await collector().segments(run.id, 1));
    expect(segment?.attributes["promptpack.status"]).toBe("stopped");
    expect(segment?.events.map(({ name }) => name)).toEqual(["packloop.stopped"]);
  });
});

describe("a fork", () => {
  test("begins a segment of its own, linked to where it was cut", async () => {
    await using engine = await engineWith({ work: [{ event: "Ask" }] });
    const origin = await engine.start(looping(), task);
    const { turns } = await origin.result();
    const fork = await engine.fork(origin.id, turns, { event: "Yes" });
    await fork.result();
    const [from] = segmentsIn(await collector().segments(origin.id, 1));
    const [own] = segmentsIn(await collector().segments(fork.id, 1));
    expect(own?.attributes).toMatchObject({
      "promptpack.segment": 1,
      "packloop.forked_from.run": origin.id,
      "packloop.forked_from.turn": turns,
    });
    expect(own?.links).toMatchObject([
      { spanId: from?.spanId, traceId: from?.traceId, attributes: { "packloop.link": "fork_origin" } },
    ]);
  });
});

describe("an agent", () => {
  const calling = [{ calls: [{ tool: "auditor", args: { query: "CVE-1" } }] }, { event: "Done" }];

  test("is a workflow within the call that it answers", async () => {
    await using engine = await engineWith({ work: calling, inspect: [{ event: "Found" }] });
    const run = await engine.start(looping(), task);
    await run.result();
    const spans = await collector().segments(run.id, 1);
    const child = await collector().segments(`${run.id}/2`, 1);
    const call = one(spans, "execute_tool auditor");
    const workflow = one(child, "invoke_workflow Looping");
    expect(call.attributes).toMatchObject({ "gen_ai.tool.type": "agent", "packloop.step": 2 });
    expect(call.parentSpanId).toBe(one(spans, "invoke_agent Worker").spanId);
    expect([workflow.parentSpanId, workflow.traceId]).toEqual([call.spanId, call.traceId]);
    expect(workflow.attributes).toMatchObject({ "packloop.parent.run": run.id, "packloop.parent.step": 2 });
    expect(call.end).toBeGreaterThanOrEqual(workflow.end);
  });

  test("that waits for a person ends the segments of both; both go on linked", async () => {
    await using engine = await engineWith({ work: calling, inspect: [{ event: "Wait" }] });
    const run = await engine.start(looping(), task);
    await run.result();
    await engine.run(`${run.id}/2`).send("Sure", { by: "alice" });
    await run.result();
    const caller = segmentsIn(await collector().segments(run.id, 2));
    const agent = segmentsIn(await collector().segments(`${run.id}/2`, 2));
    expect(caller.map(({ attributes }) => attributes["promptpack.status"])).toEqual(["waiting", "completed"]);
    expect(agent.map(({ attributes }) => attributes["promptpack.status"])).toEqual(["waiting", "completed"]);
    const links = (spans: readonly ReceivedSpan[]) => spans[1]?.links.map(({ spanId }) => spanId) ?? [];
    expect(links(agent)).toEqual([agent[0]?.spanId]);
    expect(links(caller)).toContain(caller[0]?.spanId);
  });
});

describe("a long run", () => {
  test("of a thousand turns leaves no span behind", async () => {
    const visits = 1_000;
    const again = Array.from({ length: visits - 1 }, () => ({ event: "Again" }));
    await using engine = await engineWith({ work: [...again, { event: "Done" }] });
    const run = await engine.start(looping(), task);
    expect((await run.result()).visits["work"]).toBe(visits);
    const spans = await collector().segments(run.id, 1);
    expect(named(spans, "invoke_agent Worker").length).toBe(visits);
    expect(named(spans, "chat script").length).toBe(visits + 1);
    expect(segmentsIn(spans).length).toBe(1);
  });
});
