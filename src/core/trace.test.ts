import { expect, test } from "vitest";
import { fold } from "./apply.ts";
import type { Fact, TurnRow } from "./facts.ts";
import { artifactsOf } from "./summary.ts";
import { Tracer, traceOf } from "./trace.ts";

const wrote = (artifact: string, value: string | readonly string[], more: object = {}): Fact => {
  const source = { kind: "outside", by: "ann" } as const;
  return { type: "wrote", artifact, mode: "append", json: false, value, source, ...more };
};

const entered = (visit: number): Fact => {
  const cause = { kind: "event", from: "a", event: "E" } as const;
  return { type: "entered", state: "a", visit, prompt: "p", cause, fresh: true, context: "" };
};

function journal(...writes: readonly (readonly Fact[])[]): readonly TurnRow[] {
  return writes.map((facts, n) => ({ turn: n + 1, at: n, v: 1, facts: [...facts, entered(n + 1)] }));
}

const rows = journal(
  [wrote("log", "one"), wrote("list", ["a"], { json: true })],
  [],
  [wrote("log", "two"), wrote("log", "three"), wrote("__proto__", "p")],
  [wrote("log", "")],
  [wrote("list", ["b", "c"], { json: true }), wrote("__proto__", "q")],
  [wrote("log", "anew", { fresh: true })],
  [wrote("log", "more"), wrote("other", "x", { mode: "replace" })],
);

test("every row of a trace has the artifacts that the journal up to it folds to", () => {
  const trace = [...traceOf(rows)];
  const folded = rows.map((_, n) => artifactsOf(fold(rows.slice(0, n + 1))));
  expect(trace.map(({ artifacts }) => artifacts)).toEqual(folded);
  expect(trace[3]?.artifacts["log"]).toBe("one\ntwo\nthree\n");
});

test("a trace that begins in the middle shows what was written before", () => {
  const whole = [...traceOf(rows)].slice(4);
  expect([...traceOf(rows.slice(4), fold(rows.slice(0, 4)))]).toEqual(whole);
});

test("two traces from one run do not see each other's turns", () => {
  const start = fold(rows.slice(0, 2));
  const one = new Tracer(start);
  const two = new Tracer(start);
  const at = { turn: 3, at: 2, v: 1 };
  one.take({ ...at, facts: [wrote("log", "left"), entered(3)] });
  const [right] = two.take({ ...at, facts: [wrote("log", "right"), entered(3)] });
  expect(right?.artifacts["log"]).toBe("one\nright");
});
