import { expect, test } from "vitest";
import type { Json, JsonObject } from "../base/json.ts";
import { fold } from "./apply.ts";
import type { Fact, TurnRow } from "./facts.ts";
import { artifactValue, type Run } from "./run.ts";
import { leftOutOf, shortRow, shortRun } from "./short-turn.ts";

const long = "x".repeat(1_000_000);
const rowOf = (turn: number, ...facts: readonly Fact[]): TurnRow => ({ turn, at: turn, v: 1, facts });
const answered = (value: Json): Fact => ({ type: "answered", step: 2, outcome: { ok: true, value } });
const wrote = (value: Json, mode: "replace" | "append" = "replace"): Fact => ({
  type: "wrote",
  artifact: "note",
  mode,
  json: typeof value !== "string",
  value,
  source: { kind: "model", step: 1 },
});

const sizeOf = (value: unknown): number => JSON.stringify(value).length;

test("a long text keeps its beginning, and a mark that names the turn and the size of the rest", () => {
  const [fact] = shortRow(rowOf(7, wrote(long))).facts;
  const text = (fact as { value: string }).value;
  expect(text.startsWith("x".repeat(4_096))).toBe(true);
  expect(leftOutOf(text)).toMatchObject([{ turn: 7, size: 1_000_000 - 4_096, at: 4_096 }]);
  // It is found in whatever the text was put.
  expect(leftOutOf(JSON.stringify([{ a: `before ${text} after` }]))).toMatchObject([{ turn: 7 }]);
});

test("a row of small values is left alone", () => {
  const row = rowOf(1, answered({ a: [1, 2, { b: "c".repeat(60_000) }] }));
  expect(shortRow(row)).toBe(row);
});

test("long lists and objects are cut inside values, whatever their keys are called", () => {
  const list = Array.from({ length: 100_000 }, (_, nth) => ({ nth }));
  const keyed = JSON.parse(`{"__proto__": ${JSON.stringify(list)}, "constructor": 1}`) as JsonObject;
  for (const value of [list, keyed, { deep: { list } }]) {
    const short = shortRow(rowOf(3, answered(value)));
    expect(sizeOf(short)).toBeLessThan(10_000);
    expect(leftOutOf(JSON.stringify(short))).toMatchObject([{ turn: 3 }]);
  }
  const [fact] = shortRow(rowOf(3, answered(keyed))).facts;
  const { outcome } = fact as Extract<Fact, { type: "answered" }>;
  expect(Object.keys((outcome as { value: JsonObject }).value)).toEqual(["__proto__", "constructor"]);
});

test("what a model called is still called, each with less of what it was called with", () => {
  const calls = Array.from({ length: 40 }, (_, nth) => ({
    id: `c${nth}`,
    tool: "look",
    args: { a: "y".repeat(60_000), nth },
  }));
  const reply = { text: long, calls: [...calls, { id: "z", tool: "look", args: { b: long } }], usage: {} };
  const [fact] = shortRow(rowOf(2, answered(reply))).facts;
  const { value } = (fact as unknown as { outcome: { value: typeof reply } }).outcome;
  expect(value.calls.map(({ id }) => id)).toEqual(reply.calls.map(({ id }) => id));
  expect(value.calls[0]).toEqual(calls[0]);
  expect(sizeOf(value.calls.at(-1))).toBeLessThan(5_000);
  expect(value.text.length).toBeLessThan(5_000);
});

test("a folded run is cut as its turns are, and goes on from there", () => {
  const rows = [1, 2, 3].map((turn) => rowOf(turn, wrote("z".repeat(50_000), "append")));
  const run = fold(rows);
  const short = shortRun(run);
  const noteOf = ({ artifacts }: Run): string => artifactValue(artifacts["note"] as never) as string;
  expect(noteOf(short).length).toBeLessThan(60_000);
  expect(leftOutOf(noteOf(short))).toMatchObject([{ turn: 0 }]);
  const more = rowOf(4, wrote("the last line", "append"));
  expect(noteOf(fold([more], short)).endsWith("\nthe last line")).toBe(true);
  // Only what was sent is shorter.
  expect(noteOf(fold([more], run))).toHaveLength(3 * 50_000 + 3 + "the last line".length);
});

test("what only looks like the answer of a model is cut like any other", () => {
  for (const calls of [[null], ["abc"], [[1]], [{ id: "1" }]]) {
    const row = rowOf(3, answered({ text: "x", calls }));
    expect(shortRow(row)).toEqual(row);
  }
  const [fact] = shortRow(rowOf(3, answered({ text: "x", calls: [null, long] }))).facts;
  expect(sizeOf(fact)).toBeLessThan(10_000);
});
