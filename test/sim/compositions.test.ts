// The simulator on packs whose states run compositions: the same accidents, and every part held against the
// pack as written. `SIM_SEEDS` raises their number.

import { beforeAll, describe, expect, test } from "vitest";
import { compositionProgram } from "./composition-packs.ts";
import { simulate } from "./sim.ts";

const SEEDS = Math.min(Number(process.env["SIM_SEEDS"] ?? 120), 5_000);

const coverage = new Map<string, number>();
const violations: string[] = [];

beforeAll(
  async () => {
    for (let seed = 1; seed <= SEEDS && violations.length < 5; seed++) {
      try {
        await simulate(seed, { coverage, programs: compositionProgram });
      } catch (error) {
        violations.push(`${String(error)}: npx node test/sim/run.ts --seed ${seed} --compositions --trace`);
      }
    }
  },
  60_000 + 200 * SEEDS,
);

test("no crash, rival, duplicate, wrong input or clock breaks a composition or its bound", () => {
  expect(violations).toEqual([]);
});

describe("the seeds together saw", () => {
  test.for([
    ...["composing", "part", "composed", "in_doubt", "deferred", "sent"].map((what) => `noted ${what}`),
    ...["model", "tool", "agent", "approval", "event", "message"].map((kind) => `asked ${kind}`),
    ...["completed", "failed", "cancelled", "budget_exhausted max_tool_calls"].map(
      (end) => `finished ${end}`,
    ),
    ...["crash: model called", "crash: tool called", "fork: done", "reject: facts"],
  ])("%s", (what) => {
    expect(coverage.get(what) ?? 0).toBeGreaterThan(0);
  });
});
