// Where nobody has registered a provider: runs are as they are without telemetry, and a trace that a caller is
// in is handed on as it came.

import { describe, expect, test } from "vitest";
import { createEngine } from "../../src/library/packloop.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { startSdk } from "../../src/telemetry/start-sdk.ts";
import { served } from "../server/served.ts";
import { ends, looping, task } from "./looping-pack.ts";
import { calledWorld, pack } from "./world.ts";

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

describe("without a provider", () => {
  test("the journal says nothing of traces", async () => {
    const store = memoryStore();
    await using engine = await createEngine({
      store,
      model: { script: { states: { ...ends, work: [{ event: "Done" }] } } },
    });
    const run = await engine.start(looping(), task);
    await run.result();
    const rows = await store.rows(run.id, { from: 1, to: 9, limit: 9 });
    expect(rows.length).toBeGreaterThan(2);
    expect(JSON.stringify(rows)).not.toContain("traced");
  });

  test("a caller's trace goes on to whatever the run calls", async () => {
    const world = await calledWorld();
    const server = await served({ settings: world.settings });
    const { body } = await server.post("/api/runs", { pack }, { traceparent });
    await server.until(String(body["run"]), ({ status }) => status === "completed");
    const sent = [...world.model, ...world.tool].map((headers) => headers["traceparent"]);
    expect(sent).toEqual([traceparent, traceparent, traceparent, traceparent]);
    expect(world.mcp.map((meta) => meta["traceparent"])).toEqual([traceparent]);
  });

  test("and without a caller's trace nothing is sent along", async () => {
    const world = await calledWorld();
    const server = await served({ settings: world.settings });
    const { body } = await server.post("/api/runs", { pack });
    await server.until(String(body["run"]), ({ status }) => status === "completed");
    expect(world.model.map((headers) => headers["traceparent"])).toEqual([undefined, undefined, undefined]);
    expect(world.mcp).toEqual([expect.not.objectContaining({ traceparent: expect.anything() })]);
  });
});

describe("the SDK is not started", () => {
  test.each([
    ["no variable asks for it", {}],
    ["it is disabled", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", OTEL_SDK_DISABLED: "true" }],
    ["nothing is to be exported", { OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" }],
    ["only the exporter of traces is named, as none", { OTEL_TRACES_EXPORTER: "none" }],
  ])("when %s", async (_why, env) => {
    const warned: string[] = [];
    const sdk = await startSdk({ env, warn: (line) => warned.push(line), folder: "." });
    await sdk.flush();
    expect(warned).toEqual([]);
    const { trace, isSpanContextValid } = await import("@opentelemetry/api");
    expect(isSpanContextValid(trace.getTracer("test").startSpan("probe").spanContext())).toBe(false);
  });
});
