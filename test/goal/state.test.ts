// The blob: what fits into it, what is forgotten first, and what older and newer versions left in it.

import { describe, expect, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { stateBytes } from "../../src/goal/state-size.ts";
import { answerRequest } from "../../src/goal-plugin/answer-request.ts";
import { readRequest } from "../../src/goal-plugin/loop-request.ts";
import { goText, LoopHost, onlyEvent, type Response } from "./loop-host.ts";
import { action, actTurn, doneTurn, firstTurn } from "./scripted-turns.ts";

const bytesOf = (host: LoopHost): number => Buffer.byteLength(goText(host.state));

test("U5: the size is what a host in Go would write", () => {
  const values: Json[] = ["<>&\u2028\u2029", 'äß€😀"\\n\n\t\u0001', "plain"];
  for (const value of values) expect(stateBytes(value)).toBe(Buffer.byteLength(goText(value)));
  expect(stateBytes("\b\f")).toBe(14);
});

test("U4: ten thousand runs that ended stay below 512 KiB, and a late event of one is no warning", async () => {
  const host = new LoopHost([firstTurn(), doneTurn()], { keep_terminal_runs: 20, terminal_ttl: "24h" });
  host.workspaceDir = undefined;
  let first: ReturnType<typeof onlyEvent> | undefined;
  let largest = 0;
  for (let n = 0; n < 10_000; n++) {
    host.now += 1000;
    // Most come as they would be stored; every hundredth goes the whole way.
    if (n % 100 !== 0) {
      const runs = host.state["runs"] as Record<string, Json>;
      const at = new Date(host.now).toISOString();
      const final = { run_id: `Q${n}`, goal: `goal <${n}>`, outcome: "&".repeat(200) };
      runs[`Q${n}`] = { status: "done", goal: `goal <${n}>`, step: 1, created_at: at, updated_at: at, final };
      continue;
    }
    const request = onlyEvent(await host.start({ goal: "g".repeat(500), run_id: `R${n}` }));
    await host.answer(request, { content: "<".repeat(100) });
    first ??= request;
    largest = Math.max(largest, bytesOf(host));
  }
  expect(largest).toBeLessThan(512 * 1024);
  expect(Object.keys(host.state["ended"] as JsonObject).length).toBeLessThanOrEqual(500);
  const last = await host.start({ goal: "g".repeat(500), run_id: "R9900" });
  expect(last.logs?.[0]).toMatchObject({
    level: "info",
    message: expect.stringContaining("duplicate-start"),
  });
  const pruned = Object.keys(host.state["ended"] as JsonObject)[0] as string;
  const context = { agentic: { run_id: pruned, step: 1, tool: "fabric" } };
  const late = await host.handle({ type: "x", payload: {} }, { context });
  expect(late.logs?.[0]).toMatchObject({ level: "info", message: expect.stringContaining("run-ended") });
  expect(await host.start({ goal: "g", run_id: pruned })).toMatchObject({
    result: "ignored (duplicate-start)",
  });
});

test("1,000 whole runs never exceed the cap, and each completes once", async () => {
  const host = new LoopHost([firstTurn(), doneTurn()], { terminal_ttl: "10m" });
  host.workspaceDir = undefined;
  let completed = 0;
  for (let n = 0; n < 1000; n++) {
    host.now += 60_000;
    const request = onlyEvent(await host.start({ goal: `<${"&".repeat(300)}>`, run_id: `R${n}` }));
    const end = onlyEvent(await host.answer(request, { content: "<>".repeat(500) }));
    if (end.type === "agent.completed") completed++;
    expect(Object.keys(host.state["runs"] as JsonObject).length).toBeLessThanOrEqual(21);
  }
  expect(completed).toBe(1000);
}, 120_000);

describe("U5: a state that fills up", () => {
  const input = { text: "<".repeat(32_000) };

  test("notes are trimmed, starts refused, and at last the largest run is given up; the cap always holds", async () => {
    const turns = [
      firstTurn({ action: action("jina-reader", input) }),
      actTurn("fabric", input, { memory_update: "<".repeat(1000) }),
    ];
    const host = new LoopHost(turns, { max_active_runs: 100 });
    host.workspaceDir = undefined;
    const seen = new Set<string>();
    for (let n = 0; n < 20; n++) {
      host.now += 1000;
      const response = await host.start({ goal: "&".repeat(2000), run_id: `R${n}` });
      if (response.status === "error") {
        expect(response).toMatchObject({ retry: true });
        seen.add(String(response.error).split(":")[0] ?? "");
        continue;
      }
      const [event] = response.events ?? [];
      if (event?.type.startsWith("agentic.tool_request")) await host.answer(event, { content: "P" });
      for (const one of response.events ?? []) seen.add(String(one.payload["reason"] ?? "request"));
    }
    expect([...seen]).toContain("state_full");
    expect(bytesOf(host)).toBeLessThan(960 * 1024);
  });

  test("a run that is given up for room ends once, and its request does not leave", async () => {
    const host = new LoopHost([firstTurn({ action: action("jina-reader", input) })], {
      max_active_runs: 100,
    });
    host.workspaceDir = undefined;
    host.state = { foreign: "x".repeat(790_000) };
    expect((await host.start()).error).toContain("state-full");
    host.state = { foreign: "x".repeat(784_000) };
    const event = onlyEvent(await host.start({ goal: "&".repeat(2000), run_id: "R1" }));
    expect(event).toMatchObject({ type: "agent.escalated", payload: { reason: "state_full" } });
  });

  test("memory keeps its last 8 KiB, and evidence 32 entries", async () => {
    const update = actTurn("fabric", { text: "T" }, { memory_update: "m".repeat(900) });
    const host = new LoopHost([firstTurn(), ...Array.from({ length: 40 }, () => update)], { max_steps: 50 });
    let request = onlyEvent(await host.start());
    for (let step = 1; step <= 40; step++)
      request = onlyEvent(await host.answer(request, { content: String(step) }));
    const { memory, evidence } = host.run();
    expect(String(memory).length).toBeLessThanOrEqual(8192);
    expect(String(memory)).toContain("[step 40]");
    expect(String(memory)).not.toContain("[step 1]");
    expect((evidence as readonly Json[]).length).toBe(32);
  });
});

test("U6: a run of RFC-103's time goes on, and its deadline counts from now", async () => {
  const host = new LoopHost([{}, {}, doneTurn(["step:1"])], {});
  host.state = {
    runs: { R1: { goal: "g", status: "running", step: 2, pending_step: 2, pending_tool: "fabric" } },
    last_run_id: "R1",
  };
  host.workspaceDir = undefined;
  expect((await host.poll()).events).toBeUndefined();
  expect(host.run()).toMatchObject({ attempt: 1, turn: 2, completed_steps: [1], max_steps: 20 });
  host.rewrite([{}, {}, actTurn("fabric")]);
  const flat = { run_id: "R1", step: 2, tool: "fabric", content: "C" };
  const event = onlyEvent(await host.handle({ type: "fabric.completed", payload: flat }, { context: flat }));
  expect(event.payload).toMatchObject({ run_id: "R1", step: 3 });
});

test("U6: a step with a number beyond all lists is read like any other", async () => {
  const step = Number.MAX_SAFE_INTEGER;
  const host = new LoopHost([firstTurn()]);
  host.state = { runs: { R1: { goal: "g", status: "running", pending_step: step, pending_tool: "fabric" } } };
  expect(await host.poll()).toMatchObject({ status: "ok" });
  expect(host.run()).toMatchObject({ step, pending_step: step });
});

test("I4: what is nested deeper than a process can walk is cut off, and the run goes on", async () => {
  const host = new LoopHost([firstTurn(), actTurn()]);
  const { agentic } = onlyEvent(await host.start()).payload;
  const event = { type: "tool.done", payload: { content: "P", deep: "DEEP" } };
  const job = { event, context: { agentic: agentic as JsonObject, deep: "DEEP" } };
  const deep = "[".repeat(9_000) + "]".repeat(9_000);
  const text = JSON.stringify(host.request("handle", job)).replaceAll('"DEEP"', deep);
  const request = must(readRequest(text, host.folder), "it is a request");
  const response = await answerRequest(request, { clock: () => host.now, cwd: host.folder });
  expect(onlyEvent(host.take(response as unknown as Response)).payload).toMatchObject({ step: 2 });
});

test("a newer schema is not touched", async () => {
  const host = new LoopHost([firstTurn()]);
  host.state = { schema: 2, runs: {} };
  for (const response of [await host.start(), await host.poll()])
    expect(response).toMatchObject({
      status: "error",
      retry: false,
      error: expect.stringContaining("state-schema"),
    });
  expect(host.state).toEqual({ schema: 2, runs: {} });
});

test("what others keep in the blob or in a run stays", async () => {
  const host = new LoopHost([firstTurn(), actTurn()]);
  const request = onlyEvent(await host.start());
  host.state = { ...host.state, theirs: 1, runs: { R1: { ...host.run(), added_later: { x: 1 } } } };
  const response = await host.answer(request, { content: "P" });
  expect(response.state_updates).not.toHaveProperty("theirs");
  expect(host.run()).toMatchObject({ added_later: { x: 1 } });
});

test("health says what is wrong with a configuration and that nobody polls, and changes nothing", async () => {
  const host = new LoopHost([firstTurn()]);
  await host.start();
  const before = host.state;
  expect((await host.perform("health", {})).logs?.[0]?.message).toContain("schedule `poll`");
  await host.poll();
  expect((await host.perform("health", {})).logs).toBeUndefined();
  host.config["tool_deadline"] = "soon";
  expect(await host.perform("health", {})).toMatchObject({ status: "error", retry: false });
  host.config["allowed_plugins"] = ["agentic-loop"];
  expect((await host.perform("health", {})).error).toContain("no-tools");
  expect(host.state["runs"]).toEqual(before["runs"]);
});
