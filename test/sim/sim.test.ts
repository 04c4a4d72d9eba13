// Seeds in bulk, and every seed that ever found something (seeds.txt). `SIM_SEEDS` raises their number,
// `SIM_FROM` takes others.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { emptyCells, tableOf } from "./grid.ts";
import { simulate } from "./sim.ts";

const SEEDS = Number(process.env["SIM_SEEDS"] ?? 2_000);
const FROM = Number(process.env["SIM_FROM"] ?? 1);

const coverage = new Map<string, number>();
const violations: string[] = [];
const kept = readFileSync(new URL("seeds.txt", import.meta.url), "utf8")
  .split("\n")
  .flatMap((line) => /^\d+/.exec(line) ?? [])
  .map(Number);
const fresh = Array.from({ length: SEEDS }, (_, index) => FROM + index);

beforeAll(
  async () => {
    for (const seed of [...kept, ...fresh]) {
      if (violations.length >= 5) break;
      try {
        await simulate(seed, { coverage });
      } catch (error) {
        violations.push(`${String(error)}: npx node test/sim/run.ts --seed ${seed} --trace`);
      }
    }
  },
  60_000 + 100 * SEEDS,
);

afterAll(() => {
  process.stdout.write(`${tableOf(coverage)}\n`);
});

test("no crash, rival, duplicate, wrong input or clock breaks an invariant", () => {
  expect(violations).toEqual([]);
});

test("every accident met every kind of ask at every moment it can meet it", () => {
  expect(emptyCells(coverage)).toEqual([]);
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
    ...["ports", "model called", "tool called", "asleep"].map((where) => `crash: ${where}`),
  ],
  "every end": [
    "completed",
    "failed",
    "cancelled",
    ...["visits", "total_visits", "tool_calls", "wall_time_sec", "model_calls"].map(exhausted),
    ...["input_tokens", "output_tokens", "cost_usd"].map(exhausted),
  ].map((end) => `finished ${end}`),
  "every kind of input taken": [
    ...["start", "answer", "event", "message", "approve", "reject", "cancel"].map((type) => `${type}: facts`),
    ...["sent", "hold", "resume", "retry", "abort", "pause", "unpause"].map((type) => `${type}: facts`),
    "fork: done",
  ],
  "every kind of input ignored or refused": [
    ...["start", "answer", "event", "approve", "reject", "cancel"].map((type) => `${type}: ignored`),
    ...["sent", "hold", "retry", "abort", "pause", "unpause"].map((type) => `${type}: ignored`),
    ...["event-not-allowed", "not-waiting", "run-finished", "bad-artifact"].map((code) => `event: ${code}`),
    ...["answer", "approve", "reject", "retry"].flatMap((type) => [
      `${type}: step-mismatch`,
      `${type}: pending-tool-mismatch`,
    ]),
    "message: not-waiting",
    "approve: hash-mismatch",
    "approve: bad-arguments",
    "answer: unknown-run",
  ],
  "the rest": [
    "redirected",
    "paused",
    ...["sent", "deferred", "resumed", "in_doubt", "retried"].map((what) => `noted ${what}`),
    ...["nudge", "dedupe", "scheduled", "unwritten"].map((what) => `noted ${what}`),
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
