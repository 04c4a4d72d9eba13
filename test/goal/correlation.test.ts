// Where correlation is read, what is left of a tool's event, and what is hidden from the next tool.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { correlate } from "../../src/goal/correlation.ts";
import { judgeResult } from "../../src/goal/judge-result.ts";
import { readRecord } from "../../src/goal/run-record.ts";
import { LoopHost, onlyEvent, root } from "./loop-host.ts";
import { actTurn, doneTurn, firstTurn } from "./scripted-turns.ts";

const good = { run_id: "R", step: 1, tool: "t" };
const other = { run_id: "X", step: 9, tool: "u" };

describe("C2: the first source that is whole wins", () => {
  test.each<[string, string, JsonObject, JsonObject | undefined, Json]>([
    ["the nested context", "x", { ...other }, { agentic: good, ...other }, "R"],
    ["an explicit result before flat keys", "agentic.tool_result", { ...good }, { ...other }, "R"],
    ["the flat context before the payload", "x", { ...other }, { ...good }, "R"],
    ["the payload last", "x", { ...good }, undefined, "R"],
    ["never the payload's agentic", "x", { agentic: good }, undefined, null],
    [
      "a nested context that is not whole is passed over",
      "x",
      {},
      { agentic: { run_id: "X" }, ...good },
      "R",
    ],
    ["a step below 1 is none", "x", { ...good, step: 0 }, undefined, null],
    ["a step that is no whole number is none", "x", { ...good, step: 1.5 }, undefined, null],
    ["a decimal text is a step", "x", { ...good, step: "12" }, undefined, "R"],
    ["a text that is no number is none", "x", { ...good, step: "1x" }, undefined, null],
    ["a run_id that is no text is none", "x", { ...good, run_id: 7 }, undefined, null],
  ])("%s", (_what, type, payload, context, runId) => {
    expect(correlate({ type, payload }, context)?.found.runId ?? null).toBe(runId);
  });

  test("an explicit result that names another step than its context is a conflict", () => {
    const event = { type: "agentic.tool_result", payload: { ...good, step: 2 } };
    expect(correlate(event, { agentic: good })?.conflict).toBe(true);
    expect(
      correlate({ type: "agentic.tool_result", payload: { ...good } }, { agentic: good })?.conflict,
    ).toBe(false);
  });

  test("the attempt that the host carried counts, not the one a tool names", () => {
    const event = { type: "agentic.tool_result", payload: { ...good, attempt: 7 } };
    expect(correlate(event, { agentic: { ...good, attempt: 2 } })?.found.attempt).toBe(2);
    expect(correlate(event, { agentic: good })?.found.attempt).toBe(7);
  });
});

describe("I3: the order of checks", () => {
  const running = readRecord(
    {
      status: "running",
      goal: "g",
      step: 3,
      pending_step: 3,
      pending_tool: "t",
      attempt: 2,
      pending_by_job: "mine",
    },
    { now: 0, stepsMax: 9, reframesMax: 2, attemptsMax: 3, toolDeadlineMs: () => 1000, workspaceRef: "run" },
  );
  const over = { ...running, status: "done" as const, ended_by_job: "mine" };
  const runs = new Map([
    ["R", running],
    ["D", over],
  ]);
  const ended = new Map([["E", { status: "done", at: "" }]]);
  test.each<[string, string, number, string, number | undefined, boolean, string, string]>([
    ["unknown run", "N", 3, "t", 2, true, "j", "unknown-run"],
    ["forgotten run", "E", 3, "t", 2, true, "j", "run-ended"],
    ["ended run", "D", 3, "t", 2, true, "j", "run-ended"],
    ["ended run, same job", "D", 3, "t", 2, true, "mine", "again final"],
    ["lower step", "R", 2, "t", 2, true, "j", "stale-step"],
    ["lower step, wrong tool", "R", 2, "u", 2, true, "j", "stale-step"],
    ["lower step, same job", "R", 2, "t", 2, true, "mine", "again request"],
    ["higher step", "R", 4, "t", 2, true, "j", "step_mismatch"],
    ["higher step, wrong tool", "R", 4, "u", 2, true, "j", "step_mismatch"],
    ["wrong tool", "R", 3, "u", 2, true, "j", "pending_tool_mismatch"],
    ["higher attempt", "R", 3, "t", 3, true, "j", "step_mismatch"],
    ["lower attempt, error", "R", 3, "t", 1, false, "j", "superseded-attempt"],
    ["lower attempt, ok", "R", 3, "t", 1, true, "j", "taken"],
    ["this attempt, error", "R", 3, "t", 2, false, "j", "taken"],
    ["no attempt named", "R", 3, "t", undefined, false, "j", "taken"],
    ["all equal", "R", 3, "t", 2, true, "j", "taken"],
  ])("%s", (_what, runId, step, tool, attempt, ok, jobId, expected) => {
    const verdict = judgeResult(
      { runs, ended },
      { found: { runId, step, tool, attempt }, conflict: false, jobId, ok },
    );
    const told = {
      taken: "taken",
      again: verdict.kind === "again" ? `again ${verdict.what}` : "",
      ignored: verdict.kind === "ignored" ? verdict.code : "",
      escalated: verdict.kind === "escalated" ? verdict.reason : "",
    };
    expect(told[verdict.kind]).toBe(expected);
  });

  test("a conflict ends a step that is pending and no other", () => {
    const found = { runId: "R", tool: "t", attempt: undefined };
    const at = (step: number) =>
      judgeResult({ runs, ended }, { found: { ...found, step }, conflict: true, jobId: "j", ok: true });
    expect(at(2).kind).toBe("ignored");
    expect(at(3)).toMatchObject({ kind: "escalated", reason: "correlation_conflict" });
  });
});

describe("C3, C4: what a tool's event is read as", () => {
  async function resultOf(
    event: JsonObject,
    job: { context?: JsonObject; payload?: JsonObject },
  ): Promise<Json> {
    const host = new LoopHost([firstTurn(), doneTurn()]);
    const { payload } = onlyEvent(await host.start());
    const agentic = payload["agentic"] as Json;
    const merged = {
      type: event["type"] as Json,
      payload: { ...payload, ...(event["payload"] as JsonObject) },
    };
    const isMerged = job.payload === undefined;
    await host.handle(isMerged ? merged : event, { ...job, context: { agentic, ...job.context } });
    return JSON.parse(
      readFileSync(join(host.workspaceDir ?? "", "artifacts/01-1-jina-reader.json"), "utf8"),
    ) as Json;
  }

  test("gen-1: what the request brought along is gone, the tool's own step is data", async () => {
    const payload = {
      content: "C",
      step: 77,
      run_id: "HIJACK",
      url: "http://example.test/a",
      agentic: { run_id: "F" },
    };
    expect(await resultOf({ type: "x", payload }, {})).toEqual({ content: "C", step: 77, run_id: "HIJACK" });
  });

  test("gen-2 and ours: the event as it was queued is read, without what the host adds", async () => {
    const event = {
      type: "x",
      payload: { content: "C", ductile: {}, ductile_plugin: "p", gateway_x: 1, leaked: 1 },
    };
    const raw = { type: "x", payload: { content: "C", ductile_plugin: "p" } };
    expect(await resultOf(event, { payload: raw })).toEqual({ content: "C" });
  });

  test("a payload of another event is not taken for this one's", async () => {
    const event = { type: "x", payload: { content: "C" } };
    expect(await resultOf(event, { payload: { type: "y", payload: { content: "D" } } })).toEqual({
      content: "C",
    });
  });

  test.each(["ductile.step.succeeded", "gateway.step.succeeded"])(
    "%s is a result with a summary",
    async (type) => {
      const event = { type, payload: { result: "all fine" } };
      expect(await resultOf(event, { payload: event })).toEqual({ summary: "all fine" });
    },
  );

  test("gateway.step.failed is an error", async () => {
    const host = new LoopHost([firstTurn()]);
    const request = onlyEvent(await host.start());
    const event = {
      type: "gateway.step.failed",
      payload: { code: "tool_dead", message: "gone", retryable: false },
    };
    const end = onlyEvent(
      await host.handle(event, { context: { agentic: request.payload["agentic"] as Json } }),
    );
    expect(end.payload).toMatchObject({ reason: "tool_error", details: { code: "tool_dead" } });
  });
});

test("C5: every key of the context is null in the next request, what hosts keep for themselves never", async () => {
  const host = new LoopHost([firstTurn(), actTurn("fabric", { text: "T" })]);
  const request = onlyEvent(await host.start());
  const leaked = {
    url: "u",
    content: "C",
    text: "old",
    origin_user: "ann",
    ductile_x: 1,
    run_id: "R1",
    __proto__x: 1,
  };
  const context = { ...leaked, agentic: request.payload["agentic"] as Json };
  const next = onlyEvent(await host.answer(request, { content: "C" }, { context }));
  expect(next.payload).toMatchObject({ url: null, content: null, text: "T", __proto__x: null, run_id: "R1" });
  expect(Object.keys(next.payload).filter((key) => /^(origin_|ductile)/.test(key))).toEqual([]);
});

const fixtures = join(root, "../shared/gateway/fixtures/feb17");

describe.skipIf(!existsSync(fixtures))(
  "FX-3: recordings with our pipelines (shared material beside the repository)",
  () => {
    const recorded = (name: string) =>
      JSON.parse(readFileSync(join(fixtures, "correlation", `${name}.request.json`), "utf8")) as JsonObject;

    function pendingAt(run: string, fields: JsonObject): JsonObject {
      return { schema: 1, runs: { [run]: { status: "running", goal: "g", turn: 1, ...fields } } };
    }

    test("003: flat keys that a tool overwrote have no effect, and inherited ones are blanked", async () => {
      const host = new LoopHost([firstTurn(), actTurn("toolb", { text: "T" })], {
        allowed_plugins: ["toola", "toolb"],
      });
      const { event, context } = recorded("003-agentic-loop-handle") as Record<string, JsonObject>;
      host.state = pendingAt("C1", {
        step: 1,
        pending_step: 1,
        pending_tool: "toola",
        pending_input: { url: "http://example.test/a" },
      });
      const response = onlyEvent(await host.handle(event as JsonObject, { context: context as JsonObject }));
      expect(response.payload).toMatchObject({
        run_id: "C1",
        step: 2,
        tool: "toolb",
        content: null,
        url: null,
        text: "T",
      });
      expect(Object.keys(host.state["runs"] as JsonObject)).toEqual(["C1"]);
    });

    test("011: a poll-born second attempt resumes the run", async () => {
      const host = new LoopHost([firstTurn(), actTurn("toolb")], { allowed_plugins: ["toolb"] });
      const { event, context } = recorded("011-agentic-loop-handle") as Record<string, JsonObject>;
      host.state = pendingAt("C3", {
        step: 1,
        pending_step: 1,
        pending_tool: "toolb",
        attempt: 2,
        pending_input: { text: "again" },
      });
      expect(
        onlyEvent(await host.handle(event as JsonObject, { context: context as JsonObject })).payload["step"],
      ).toBe(2);
    });

    test("006, 007: nothing resumes a run whose tool failed, so the sweep does", async () => {
      const host = new LoopHost([firstTurn({ action: { tool: "toolf", input: {}, expect: "x" } })], {
        allowed_plugins: ["toolf"],
      });
      const { event } = recorded("006-agentic-loop-handle") as Record<string, JsonObject>;
      await host.handle(event as JsonObject);
      host.now += 20 * 60_000;
      expect(onlyEvent(await host.poll()).payload).toMatchObject({ tool: "toolf", attempt: 2 });
    });
  },
);
