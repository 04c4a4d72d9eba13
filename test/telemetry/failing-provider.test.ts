// An observer that fails in every way it can: the runs it watches end as they would without it.

import { DiagLogLevel, diag, metrics, trace } from "@opentelemetry/api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEngine } from "../../src/library/packloop.ts";
import { ends, looping, task } from "./looping-pack.ts";

const told: unknown[] = [];
let failsFrom = 0;

/** Fails from the so-manyth span on. */
beforeAll(() => {
  const fail = () => {
    throw new Error("the provider is broken");
  };
  let spans = 0;
  const broken = new Proxy({}, { get: () => fail });
  const startSpan = () => (++spans > failsFrom ? fail() : broken);
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan: fail }) } as never);
  metrics.setGlobalMeterProvider({ getMeter: fail });
  const log = (...args: unknown[]) => told.push(args);
  const logger = { error: log, warn: log, info: log, debug: log, verbose: log };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
});
afterAll(() => {
  trace.disable();
  metrics.disable();
  diag.disable();
});

test.each([0, 1, 2, 3, 5, 1_000])("a provider that fails from span %i on stops no run", async (good) => {
  failsFrom = good;
  await using engine = await createEngine({
    model: {
      script: {
        states: {
          ...ends,
          work: [
            { calls: [{ tool: "look" }] },
            { calls: [{ tool: "auditor", args: { query: "q" } }] },
            { event: "Ask" },
          ],
          inspect: [{ event: "Found" }],
        },
      },
    },
    tools: { look: async () => "seen" },
  });
  const run = await engine.start(looping(), task);
  expect((await run.result()).status).toBe("waiting");
  await run.send("Yes", { by: "alice" });
  expect((await run.result()).status).toBe("completed");
  expect(told.length).toBeGreaterThan(0);
});
