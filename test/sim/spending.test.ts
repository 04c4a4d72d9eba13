// The simulator on packs in which many spend for one run at the same time: whatever happens, all of them
// together stay within its limits (S13, S43, G10). `SIM_SEEDS` raises the number of seeds.

import { beforeAll, describe, expect, test } from "vitest";
import { simulate } from "./sim.ts";
import { spendingProgram } from "./spending-packs.ts";

const SEEDS = Math.min(Number(process.env["SIM_SEEDS"] ?? 150), 10_000);
/** Found something once: an agent started late by another process, an agent at work judged anew. */
const KEPT = [1_078, 1_241];

const coverage = new Map<string, number>();
const violations: string[] = [];

beforeAll(
  async () => {
    const seeds = [...KEPT, ...Array.from({ length: SEEDS }, (_, index) => index + 1)];
    for (const seed of seeds) {
      if (violations.length >= 5) break;
      try {
        await simulate(seed, { coverage, programs: spendingProgram });
      } catch (error) {
        violations.push(`${String(error)}: npx node test/sim/run.ts --seed ${seed} --spending --trace`);
      }
    }
  },
  60_000 + 400 * SEEDS,
);

test("no crash, rival, duplicate, wrong input or clock makes a tree spend more than its root may", () => {
  expect(violations).toEqual([]);
});

describe("the seeds together saw", () => {
  test.for([
    ...["stalled", "part", "deferred", "resumed"].map((what) => `noted ${what}`),
    ...["model", "agent", "stop", "reply"].map((kind) => `asked ${kind}`),
    ...["completed", "cancelled", "budget_exhausted max_model_calls"].map((end) => `finished ${end}`),
    ...["crash: model called", "fork: done", "agent | fork", "stop | crash"],
  ])("%s", (what) => {
    expect(coverage.get(what) ?? 0).toBeGreaterThan(0);
  });
});
