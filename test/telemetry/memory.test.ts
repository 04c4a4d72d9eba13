// What telemetry remembers does not grow with the runs that wait.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { fold } from "../../src/core/apply.ts";
import { emptyRun } from "../../src/core/run.ts";
import { createEngine } from "../../src/library/packloop.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { Telemetry } from "../../src/telemetry/telemetry.ts";
import { ends, looping, task } from "./looping-pack.ts";

const RUNS = 100_000;

function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

test("a hundred thousand waiting runs are counted, and cost no memory", async () => {
  const store = memoryStore();
  const script = { states: { ...ends, work: [{ event: "Ask" }] } };
  await using engine = await createEngine({ store, model: { script } });
  const { id } = await engine.start(looping(), task);
  await engine.run(id).result();
  const stored = await store.load(id);
  const waiting = fold(stored?.rows ?? [], stored?.snapshot);
  const row = { turn: 1, at: waiting.now, v: 1, facts: [] };
  const telemetry = new Telemetry();
  const wait = (run: string) => {
    const planned = { id: run, before: emptyRun, after: waiting, facts: [], at: row.at };
    const watch = telemetry.turn({ ...planned, program: looped, trace: undefined });
    watch.committed({ row, run: waiting, tookMs: 1 });
  };
  const looped = looping();
  for (let run = 0; run < 1_000; run++) wait(`r_${run}`);
  const before = heapBytes();
  for (let run = 0; run < RUNS; run++) wait(`r_${"x".repeat(200)}${run}`);
  const grown = heapBytes() - before;
  const [open] = telemetry.metrics.families().filter(({ spec }) => spec.name === "packloop.open_asks");
  expect(open?.series.map(({ labels, value }) => [labels, value])).toEqual([
    [{ kind: "event" }, RUNS + 1_000],
  ]);
  expect(grown).toBeLessThan(RUNS * 20);
});
