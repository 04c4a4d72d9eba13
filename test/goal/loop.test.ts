// RFC-103's own cases, its invariants and its errors: the acceptance ids stand in front of each sentence.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { contextOf, LoopHost, onlyEvent } from "./loop-host.ts";
import { action, actTurn, doneTurn, firstTurn, planTurn, worked } from "./scripted-turns.ts";

async function startedWith(
  turns: Parameters<typeof actTurn>[1][] | readonly JsonObject[],
  config: JsonObject = {},
) {
  const host = new LoopHost(turns as readonly JsonObject[], config);
  const request = onlyEvent(await host.start());
  return { host, request };
}

describe("the RFC's cases", () => {
  test("T1: a start makes a run and one request, and the pending fields are in the same response", async () => {
    const host = new LoopHost(worked);
    const response = await host.start();
    const event = onlyEvent(response);
    expect(event).toMatchObject({
      type: "agentic.tool_request.jina-reader",
      dedupe_key: "agentic:run:R1:step:1:request",
      event_id: "agentic.R1.1.1.request",
      payload: {
        ...{ run_id: "R1", step: 1, tool: "jina-reader", tool_command: "handle", attempt: 1 },
        agentic: { v: 1, run_id: "R1", step: 1, tool: "jina-reader", attempt: 1, workspace_ref: "job:root" },
        tool_payload: { url: "http://example.test/a" },
        url: "http://example.test/a",
      },
    });
    expect(host.run()).toMatchObject({
      ...{
        status: "running",
        phase: "waiting",
        step: 1,
        turn: 1,
        pending_step: 1,
        pending_tool: "jina-reader",
      },
      ...{ pending_since: event.payload["requested_at"], attempt: 1, completed_steps: [] },
      pending_input: { url: "http://example.test/a" },
    });
    expect(host.state).toMatchObject({ schema: 1, last_run_id: "R1" });
  });

  test("T2, T7: the worked example goes through two tools to one completion, references replaced", async () => {
    const { host, request } = await startedWith(worked as readonly JsonObject[]);
    const second = onlyEvent(await host.answer(request, { content: "PAGE", url: "http://example.test/a" }));
    expect(second.payload).toMatchObject({ step: 2, tool: "fabric", text: "PAGE", prompt: "two paragraphs" });
    expect(host.run()).toMatchObject({
      completed_steps: [1],
      pending_step: 2,
      memory: "- [step 1] page text is step 1",
    });
    const last = await host.answer(second, { result: "CRITIQUE" });
    expect(onlyEvent(last)).toMatchObject({
      type: "agent.completed",
      dedupe_key: "agentic:run:R1:completed",
      event_id: "agentic.R1.completed",
      payload: {
        ...{ run_id: "R1", goal: "g", outcome: "critique written", steps_taken: 2 },
        artifacts: ["artifacts/02-1-fabric.json"],
        criteria: [
          { id: "C1", text: "page text was obtained", evidence: ["step:1", "step:2"] },
          { id: "C2", text: "a two-paragraph critique exists", evidence: ["step:1", "step:2"] },
        ],
      },
    });
    expect(host.run()).toMatchObject({
      status: "done",
      phase: "ended",
      pending_step: null,
      frame: null,
      memory: "",
    });
    const stored = readFileSync(join(host.workspaceDir ?? "", "artifacts/02-1-fabric.json"), "utf8");
    expect(JSON.parse(stored)).toEqual({ result: "CRITIQUE" });
    const again = await host.answer(second, { result: "CRITIQUE" });
    expect(again.events).toBeUndefined();
    expect(again.state_updates).toBeUndefined();
  });

  test("T3: the same result of another job advances nothing", async () => {
    const { host, request } = await startedWith([firstTurn(), actTurn(), doneTurn()]);
    await host.answer(request, { content: "PAGE" });
    const before = host.state;
    const second = await host.answer(request, { content: "PAGE" });
    expect(second.events).toBeUndefined();
    expect(second.state_updates).toBeUndefined();
    expect(host.state).toEqual(before);
    expect(second.logs).toEqual([{ level: "info", message: "stale-step: run R1, step 1" }]);
  });

  test("T4: a result of a lower step is ignored, also with another tool's name", async () => {
    const { host, request } = await startedWith([firstTurn(), actTurn(), doneTurn()]);
    await host.answer(request, { content: "PAGE" });
    const context = { agentic: { run_id: "R1", step: 1, tool: "fabric" } };
    const late = await host.handle({ type: "x", payload: {} }, { context });
    expect(late.events).toBeUndefined();
    expect(host.run()["status"]).toBe("running");
  });

  test.each([
    ["T5", { run_id: "R1", step: 1, tool: "fabric" }, "pending_tool_mismatch"],
    ["T8", { run_id: "R1", step: 2, tool: "jina-reader" }, "step_mismatch"],
    ["T8, attempts", { run_id: "R1", step: 1, tool: "jina-reader", attempt: 2 }, "step_mismatch"],
  ])("%s: %j ends the run as %s, once", async (_id, agentic, reason) => {
    const { host } = await startedWith([firstTurn(), doneTurn()]);
    const response = await host.handle({ type: "x", payload: {} }, { context: { agentic } });
    expect(onlyEvent(response)).toMatchObject({ type: "agent.escalated", payload: { run_id: "R1", reason } });
    expect(host.run()).toMatchObject({ status: "escalated", phase: "ended", pending_step: null });
    const after = await host.handle({ type: "x", payload: {} }, { context: { agentic } });
    expect(after.events).toBeUndefined();
  });

  test("T6: with two steps a third request never leaves, and the second result may complete", async () => {
    for (const last of [actTurn(), doneTurn()]) {
      const { host, request } = await startedWith([firstTurn(), actTurn(), last], { max_steps: 2 });
      const second = onlyEvent(await host.answer(request, { content: "P" }));
      const end = onlyEvent(await host.answer(second, { result: "C" }));
      const isDone = last["action"] === null;
      expect(end.type).toBe(isDone ? "agent.completed" : "agent.escalated");
      if (!isDone) expect(end.payload).toMatchObject({ reason: "max_steps_exceeded", steps_taken: 2 });
    }
  });

  test("T9: no reserved key of an input alters correlation; each stays in tool_payload", async () => {
    const input = {
      ...{ run_id: "X", step: 9, tool: "evil", tool_command: "rm", attempt: 7, requested_at: "never" },
      ...{
        agentic: { run_id: "X" },
        tool_payload: {},
        ductile: 1,
        ductile_x: 1,
        origin_id: 1,
        gateway_x: 1,
        url: "u",
      },
    };
    const host = new LoopHost([firstTurn({ action: action("jina-reader", input) })]);
    const { payload } = onlyEvent(await host.start());
    expect(payload).toMatchObject({
      run_id: "R1",
      step: 1,
      tool: "jina-reader",
      tool_command: "handle",
      attempt: 1,
    });
    expect(payload["agentic"]).toMatchObject({ run_id: "R1", step: 1 });
    expect(payload["tool_payload"]).toEqual(input);
    expect(Object.keys(payload).filter((key) => /^(ductile|origin_|gateway_)/.test(key))).toEqual([]);
    expect(payload["url"]).toBe("u");
  });
});

describe("starts", () => {
  test.each([
    [{}, "goal-missing"],
    [{ goal: " " }, "goal-missing"],
    [{ goal: 7 }, "goal-missing"],
    [{ goal: "x", times: 8001 }, "goal-missing"],
  ])("a start with %j is refused for good", async (payload, code) => {
    const { goal, times = 1 } = payload as { goal?: string; times?: number };
    const long = times > 1 ? { goal: goal?.repeat(times) ?? "" } : (payload as JsonObject);
    const response = await new LoopHost(worked).start(long);
    expect(response).toMatchObject({ status: "error", retry: false });
    expect(response.error).toContain(code);
  });

  test("`text` is taken for `goal`, and api.trigger starts a run", async () => {
    const host = new LoopHost(worked);
    const response = await host.handle({ type: "api.trigger", payload: { text: "g", run_id: "R7" } });
    expect(onlyEvent(response).payload["run_id"]).toBe("R7");
  });

  test("the start may lower the budget and never raise it", async () => {
    for (const [wanted, given] of [
      [3, 3],
      [50, 20],
      [0, 20],
      ["4", 20],
    ] as const) {
      const host = new LoopHost(worked);
      await host.start({ goal: "g", run_id: "R1", context: { max_steps: wanted, tone: "mild" } });
      expect(host.run()["max_steps"]).toBe(given);
    }
  });

  test("U1: the same key, the same event or the same job is the same run", async () => {
    const events: JsonObject[] = [
      { type: "agentic.start", payload: { goal: "g" }, dedupe_key: "k", event_id: "a" },
      { type: "agentic.start", payload: { goal: "g" }, event_id: "b" },
      { type: "agentic.start", payload: { goal: "g" } },
    ];
    for (const event of events) {
      const host = new LoopHost(worked);
      const first = onlyEvent(await host.handle(event, { jobId: "j1" }));
      expect(first.payload["run_id"]).toMatch(/^r[a-z2-7]{25}$/);
      const isJobs = event["event_id"] === undefined;
      const second = await host.handle(event, { jobId: isJobs ? "j1" : "j2" });
      expect(Object.keys(host.state["runs"] as JsonObject)).toEqual([first.payload["run_id"]]);
      expect(second.events ?? []).toEqual(isJobs ? [first] : []);
    }
  });

  test("U3: another goal under the same name is refused", async () => {
    const { host } = await startedWith([firstTurn()]);
    const response = await host.start({ goal: "other", run_id: "R1" });
    expect(response).toMatchObject({ status: "error", retry: false });
    expect(response.error).toContain("run-id-conflict");
  });

  test("too many runs under way is refused for now", async () => {
    const host = new LoopHost(worked, { max_active_runs: 1 });
    await host.start({ goal: "g", run_id: "R1" });
    const response = await host.start({ goal: "g", run_id: "R2" });
    expect(response).toMatchObject({ status: "error", retry: true });
    expect(response.error).toContain("too-many-runs");
  });

  test.each([
    [{ allowed_plugins: [] }],
    [{ allowed_plugins: ["agentic-loop", "fabric"] }],
    [{ allowed_plugins: "fabric" }],
    [{ allowed_plugins: null }],
  ])("X1, X3: no run is started with %j", async (config) => {
    const response = await new LoopHost(worked, config).start();
    expect(response).toMatchObject({ status: "error", retry: false });
    expect(response.error).toContain("no-tools");
  });

  test("a run may be called __proto__ or constructor", async () => {
    for (const id of ["__proto__", "constructor"]) {
      const host = new LoopHost(worked);
      const request = onlyEvent(await host.start({ goal: "g", run_id: id }));
      const second = onlyEvent(await host.answer(request, { content: "P" }));
      expect(second.payload).toMatchObject({ run_id: id, step: 2 });
    }
  });
});

describe("errors of tools", () => {
  test("E2: with attempts left the same step is asked for again, with its own key and no model", async () => {
    const { host, request } = await startedWith([firstTurn()]);
    const again = onlyEvent(await host.explicit(request, { status: "error", error: "down" }));
    expect(again).toMatchObject({
      dedupe_key: "agentic:run:R1:step:1:attempt:2:request",
      event_id: "agentic.R1.1.2.request",
      payload: { step: 1, attempt: 2, tool_payload: { url: "http://example.test/a" } },
    });
    expect(host.run()).toMatchObject({ attempt: 2, turn: 1, step: 1 });
  });

  test("E3: used up, the run is escalated", async () => {
    const { host, request } = await startedWith([firstTurn()], { max_attempts: 2 });
    const again = onlyEvent(
      await host.explicit(request, { status: "error", error: { code: "tool_failed", message: "no" } }),
    );
    const end = onlyEvent(
      await host.explicit(again, { status: "error", error: { code: "tool_failed", message: "no" } }),
    );
    expect(end).toMatchObject({
      type: "agent.escalated",
      payload: { reason: "tool_error", details: { code: "tool_failed", attempts: 2 } },
    });
  });

  test("an error that is not retryable is not retried, and neither is a result of no known status", async () => {
    for (const more of [
      { status: "error", error: { code: "tool_no_event", message: "x", retryable: false } },
      { status: "fine" },
    ]) {
      const { host, request } = await startedWith([firstTurn()]);
      expect(onlyEvent(await host.explicit(request, more)).payload["reason"]).toBe("tool_error");
    }
  });

  test("E3, E4: with `reflect` the model sees the error, which costs a reframe, until those are used up", async () => {
    const config = { max_attempts: 1, max_reframes: 1, on_tool_error: "reflect" };
    const { host, request } = await startedWith([firstTurn(), actTurn("fabric")], config);
    const next = onlyEvent(await host.explicit(request, { status: "error", error: "down" }));
    expect(next.payload).toMatchObject({ step: 2, tool: "fabric" });
    expect(host.run()).toMatchObject({ reframes: 1, completed_steps: [1], failed_steps: [1] });
    const end = onlyEvent(await host.explicit(next, { status: "error", error: "down" }));
    expect(end.payload["reason"]).toBe("max_reframes_exceeded");
  });

  test("E4: a frame that is replaced too often ends the run", async () => {
    const reframe = {
      reason: "misread",
      frame: { restated: "r", criteria: [{ id: "C1", text: "t" }], assumptions: [], unknowns: [] },
    };
    const { host, request } = await startedWith([firstTurn(), planTurn({ reframe }), planTurn({ reframe })], {
      max_reframes: 1,
    });
    const second = onlyEvent(await host.answer(request, { content: "P" }));
    expect(host.run()).toMatchObject({ reframes: 1, frame: { restated: "r" }, evidence: [] });
    expect(onlyEvent(await host.answer(second, { result: "C" })).payload["reason"]).toBe(
      "max_reframes_exceeded",
    );
  });

  test("E1, I5: an unknown run and an uncorrelated result are ignored with a warning", async () => {
    const { host } = await startedWith([firstTurn()]);
    const before = host.state;
    const unknown = await host.handle(
      { type: "x", payload: {} },
      { context: { agentic: { run_id: "R9", step: 1, tool: "fabric" } } },
    );
    expect(unknown.logs?.[0]).toMatchObject({
      level: "warn",
      message: expect.stringContaining("unknown-run"),
    });
    for (const payload of [
      { run_id: "R1", step: 1 },
      { run_id: "R1", tool: "fabric" },
      { step: 1, tool: "fabric" },
      {},
    ]) {
      const lost = await host.handle({ type: "agentic.tool_result", payload });
      expect(lost.logs?.[0]).toMatchObject({
        level: "warn",
        message: expect.stringContaining("uncorrelated"),
      });
    }
    expect(host.state).toEqual(before);
  });
});

describe("the sweep and the missing model", () => {
  test("N3: overdue steps are asked for again until the attempts are used up", async () => {
    const { host } = await startedWith([firstTurn()], {
      max_attempts: 3,
      tool_deadline: "10m",
      tool_deadlines: { fabric: "1s" },
    });
    expect((await host.poll()).events).toBeUndefined();
    for (const attempt of [2, 3]) {
      host.now += 10 * 60_000;
      expect(onlyEvent(await host.poll()).payload).toMatchObject({ step: 1, attempt });
    }
    host.now += 10 * 60_000;
    expect(onlyEvent(await host.poll()).payload).toMatchObject({
      reason: "tool_error",
      details: { code: "tool_timeout" },
    });
  });

  test("N3: a late ok of the first attempt closes the step; a late error does not; the second ok is stale", async () => {
    const { host, request } = await startedWith([firstTurn(), actTurn()]);
    host.now += 20 * 60_000;
    const second = onlyEvent(await host.poll());
    const error = await host.explicit(request, { status: "error", error: "x", attempt: 1 });
    expect(error.logs?.[0]?.message).toContain("superseded-attempt");
    expect(onlyEvent(await host.answer(request, { content: "P" })).payload["step"]).toBe(2);
    expect((await host.answer(second, { content: "P" })).events).toBeUndefined();
  });

  test("N4: a result is kept while the model is away, and poll completes the turn with it", async () => {
    const { host, request } = await startedWith([
      firstTurn(),
      { fault: "unavailable" },
      actTurn("fabric", { text: "{{step:1.content}}" }),
    ]);
    const deferred = await host.answer(request, { content: "PAGE" });
    expect(deferred).toMatchObject({ status: "ok" });
    expect(deferred.events).toBeUndefined();
    expect(host.run()).toMatchObject({
      phase: "reflect",
      completed_steps: [1],
      pending_step: null,
      model_tries: 1,
    });
    expect((await host.poll()).events).toBeUndefined();
    host.now += 30_000;
    expect(onlyEvent(await host.poll()).payload).toMatchObject({ step: 2, text: "PAGE" });
    expect(host.run()).toMatchObject({ model_tries: 0, deferred_result: null, retry_after: null });
  });

  test("N4: also a first turn is made up for, once the script has it", async () => {
    const host = new LoopHost([]);
    expect((await host.start()).events).toBeUndefined();
    expect(host.run()).toMatchObject({ phase: "frame", model_tries: 1 });
    host.rewrite([firstTurn(), doneTurn()]);
    host.now += 30_000;
    const request = onlyEvent(await host.poll());
    expect(onlyEvent(await host.answer(request, { content: "P" })).type).toBe("agent.completed");
  });

  test("N4: after the last try the run is escalated; the pauses double up to ten minutes", async () => {
    const { host, request } = await startedWith([firstTurn()], { max_model_tries: 7 });
    await host.answer(request, { content: "PAGE" });
    const pauses: number[] = [];
    for (let poll = 0; poll < 7; poll++) {
      const pause = Date.parse(String(host.run()["retry_after"])) - host.now;
      pauses.push(pause / 1000);
      host.now += pause;
      await host.poll();
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600]);
    expect(host.run()).toMatchObject({ status: "escalated", final: { reason: "model_unavailable" } });
  });

  test("a poll takes up one turn of the model, the one that waits longest", async () => {
    const host = new LoopHost([]);
    for (const id of ["R1", "R2"]) {
      await host.start({ goal: "g", run_id: id });
      host.now += 1000;
    }
    host.rewrite([firstTurn()]);
    host.now += 60_000;
    expect(onlyEvent(await host.poll()).payload["run_id"]).toBe("R1");
    expect(onlyEvent(await host.poll()).payload["run_id"]).toBe("R2");
  });

  test("a swept step that goes to the model is told of the timeout in the same poll", async () => {
    const { host } = await startedWith([firstTurn(), actTurn()], {
      max_attempts: 1,
      on_tool_error: "reflect",
    });
    host.now += 20 * 60_000;
    expect(onlyEvent(await host.poll()).payload).toMatchObject({ step: 2 });
    expect(host.run()).toMatchObject({ reframes: 1, failed_steps: [1] });
  });

  test("a bad configuration fails the poll for good, and a result only for now", async () => {
    const { host, request } = await startedWith([firstTurn(), doneTurn()]);
    host.config["max_attempts"] = 0;
    expect(await host.poll()).toMatchObject({ status: "error", retry: false });
    expect(await host.answer(request, {})).toMatchObject({ status: "error", retry: true });
  });
});

describe("jobs that are run again", () => {
  const same = (a: unknown, b: unknown) => expect(JSON.stringify(a)).toBe(JSON.stringify(b));

  test("U2: a start, a resume, a sweep and a completion say the same to the byte and ask no model", async () => {
    const host = new LoopHost([firstTurn(), actTurn(), doneTurn()], { max_attempts: 5 });
    const startEvent = { type: "agentic.start", payload: { goal: "g", run_id: "R1" } };
    const first = await host.handle(startEvent, { jobId: "a" });
    host.rewrite([]);
    same((await host.handle(startEvent, { jobId: "a" })).events, first.events);
    host.now += 20 * 60_000;
    const swept = await host.poll({ jobId: "b" });
    same((await host.poll({ jobId: "b" })).events, swept.events);
    host.rewrite([firstTurn(), actTurn(), doneTurn()]);
    const request = onlyEvent(swept);
    const context = { ...contextOf(request), leaked: 1 };
    const second = await host.answer(request, { content: "P" }, { jobId: "c", context });
    expect(onlyEvent(second).payload["leaked"]).toBeNull();
    host.rewrite([]);
    same((await host.answer(request, { content: "P" }, { jobId: "c" })).events, second.events);
    host.rewrite([firstTurn(), actTurn(), doneTurn()]);
    const end = await host.answer(onlyEvent(second), { result: "C" }, { jobId: "d" });
    expect(onlyEvent(end).type).toBe("agent.completed");
    host.rewrite([]);
    same((await host.answer(onlyEvent(second), { result: "C" }, { jobId: "d" })).events, end.events);
  });

  test("X1: a request that is no longer allowed is not said again; the run ends", async () => {
    const host = new LoopHost([firstTurn()]);
    await host.start(undefined, { jobId: "a" });
    host.config["allowed_plugins"] = ["fabric"];
    const event = onlyEvent(await host.start(undefined, { jobId: "a" }));
    expect(event).toMatchObject({ type: "agent.escalated", payload: { reason: "tool_not_allowed" } });
  });
});
