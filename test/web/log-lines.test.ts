// What the page tells of a visit beside asking and answering.

import { expect, test } from "vitest";
import type { Ask, Fact, TurnRow } from "../../src/core/facts.ts";
import { logLines } from "../../web/src/journal/log-lines.ts";

const rowOf = (turn: number, ...facts: readonly Fact[]): TurnRow => ({ turn, at: turn * 10, v: 1, facts });
const asks = (step: number): Ask | undefined =>
  step === 2 ? ({ kind: "tool", tool: "build" } as unknown as Ask) : undefined;

test("notes, failures and what programs printed are told in order, and nothing else", () => {
  const rows = [
    rowOf(1, { type: "noted", what: "sent", step: 2 }),
    rowOf(2, { type: "noted", what: "in_doubt", step: 2 }),
    rowOf(3, { type: "noted", what: "held", by: "alice", reason: "lunch" }),
    rowOf(4, { type: "noted", what: "retried", step: 2, by: "bob" }),
    rowOf(5, {
      type: "answered",
      step: 2,
      outcome: { ok: true, value: { exit_code: 1, stdout: "", stderr: `${"x".repeat(5_000)}the end\n` } },
    }),
    rowOf(6, { type: "answered", step: 9, outcome: { ok: false, code: "cut", message: "the line was cut" } }),
    rowOf(7, { type: "noted", what: "nudge", text: "go on" }),
  ];
  const told = logLines(rows, asks);
  expect(told.map(({ turn, at, step, text }) => [turn, at, step, text])).toEqual([
    [1, 10, 2, "the call is about to leave; it must not be made twice"],
    [2, 20, 2, "the call may have been made or not"],
    [3, 30, null, "the run is held by alice: lunch"],
    [4, 40, 2, "the call is made again by bob"],
    [5, 50, 2, "build printed on stderr"],
    [6, 60, 9, "the call failed: cut"],
  ]);
  expect(told[4]?.output).toMatch(/^…x+the end$/);
  expect(told[4]?.output?.length).toBeLessThan(2_100);
  expect(told[5]?.output).toBe("the line was cut");
});

test("of very many only the newest are told", () => {
  const rows = Array.from({ length: 500 }, (_, index) =>
    rowOf(index + 1, { type: "noted", what: "sent", step: 2 }),
  );
  const told = logLines(rows, asks);
  expect([told.length, told.at(-1)?.turn]).toEqual([100, 500]);
});
