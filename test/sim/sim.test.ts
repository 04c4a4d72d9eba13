// Seeds in bulk. `SIM_SEEDS` raises their number, `SIM_FROM` takes others.

import { beforeAll, describe, expect, test } from "vitest";
import { simulate } from "./sim.ts";

const SEEDS = Number(process.env["SIM_SEEDS"] ?? 2_000);
const FROM = Number(process.env["SIM_FROM"] ?? 1);

const coverage = new Map<string, number>();
const violations: string[] = [];

beforeAll(
  async () => {
    for (let seed = FROM; seed < FROM + SEEDS && violations.length < 5; seed++) {
      try {
        await simulate(seed, { coverage });
      } catch (error) {
        violations.push(`${String(error)}: npx node test/sim/run.ts --seed ${seed} --trace`);
      }
    }
  },
  60_000 + 100 * SEEDS,
);

test("no crash, rival, duplicate, wrong input or clock breaks an invariant", () => {
  expect(violations).toEqual([]);
});

test("a seed tells the same story twice", async () => {
  const tell = async () => {
    const story: string[] = [];
    await simulate(FROM, { trace: (line) => story.push(line) });
    return story.join("\n");
  };
  expect(await tell()).toBe(await tell());
});

/** What must have happened somewhere, or the quiet above means little. */
const cells = {
  "every kind of ask": [
    "model",
    "tool",
    "agent",
    "approval",
    "event",
    "message",
    "timer",
    "reply",
    "stop",
  ].map((kind) => `asked ${kind}`),
  "a crash at every await": [
    ...["load", "commit", "program", "putProgram", "loadAt", "fork"].flatMap((call) => [
      `crash: before ${call}`,
      `crash: after ${call}`,
    ]),
    ...["model", "tool"].flatMap((what) => [`crash: ${what} about to be called`, `crash: ${what} called`]),
    "crash: agent about to be started",
    "crash: timer",
  ],
  "every end": [
    "completed",
    "failed",
    "cancelled",
    ...["visits", "total_visits", "tool_calls", "wall_time_sec", "model_calls"].map(exhausted),
    ...["input_tokens", "output_tokens", "cost_usd"].map(exhausted),
  ].map((end) => `finished ${end}`),
  "every kind of input taken": [
    ...["start", "answer", "event", "message", "approve", "reject", "hold", "retry", "abort", "cancel"].map(
      (type) => `${type}: facts`,
    ),
    "fork: done",
  ],
  "every kind of input ignored or refused": [
    ...["start", "answer", "event", "approve", "reject", "hold", "retry", "abort", "cancel"].map(
      (type) => `${type}: ignored`,
    ),
    ...["event-not-allowed", "not-waiting", "run-finished", "bad-artifact"].map((code) => `event: ${code}`),
    ...["answer", "approve", "reject", "retry"].flatMap((type) => [
      `${type}: step-mismatch`,
      `${type}: pending-tool-mismatch`,
    ]),
    "message: not-waiting",
    "approve: hash-mismatch",
    "answer: unknown-run",
  ],
  "the rest": [
    "a rival committed first",
    "redirected",
    ...["deferred", "in_doubt", "retried", "nudge", "dedupe", "scheduled", "unwritten"].map(
      (what) => `noted ${what}`,
    ),
    ...["answer", "event", "approve", "start", "message"].map((type) => `again: ${type}`),
  ],
};

describe("the seeds together saw", () => {
  test.for(Object.entries(cells))("%s", ([, wanted]) => {
    expect(wanted.filter((what) => !coverage.has(what))).toEqual([]);
  });
});

function exhausted(limit: string): string {
  return `budget_exhausted max_${limit}`;
}
