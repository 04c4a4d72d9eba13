// S12: a timer whose sleep ends a moment early, as sleeps do, still ends the run in time.

import { expect, test } from "vitest";
import { Engine } from "../../src/engine/engine.ts";
import type { Clock } from "../../src/engine/ports.ts";
import { openPack } from "../../src/pack/open-pack.ts";
import { memoryStore } from "../../src/store/memory.ts";

const text = `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go. }
workflow:
  version: 2
  entry: work
  engine: { budget: { max_wall_time_sec: 5 } }
  states: { work: { prompt_task: p, terminal: true } }
`;

/** Time passes only in sleeps, and each of those is a millisecond short. */
function shortSleeps(): Clock {
  let now = 1_000;
  return {
    now: () => now,
    sleep: async (ms) => {
      now += Math.max(1, ms - 1);
    },
  };
}

test("a run ends with its time although the timer's sleep was too short", async () => {
  const opened = openPack(text);
  if (!opened.ok) throw opened.toError();
  const { program, digest } = opened;
  await using engine = new Engine({
    store: memoryStore(),
    clock: shortSleeps(),
    portsOf: async () => ({
      model: {
        // It never answers.
        call: (_request, { signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason as Error));
          }),
      },
      tools: { knows: () => false, isSafe: () => true, call: () => Promise.reject(new Error("no tool")) },
    }),
  });
  const input = { mode: "autonomous", variables: {}, input: "go" } as const;
  await engine.start({ id: "r", program, digest, source: "", setup: {}, input });
  const run = await engine.settled("r");
  expect(run).toMatchObject({ final: "budget_exhausted", reason: { limit: "max_wall_time_sec" } });
});
