import { describe, expect, test } from "vitest";
import { type Fields, parseWhere } from "./where.ts";

const fields: Fields = new Map([
  ["status", { kind: "text", words: ["done", "failed"] }],
  ["state", { kind: "text" }],
  ["visits", { kind: "number" }],
  ["cost", { kind: "number" }],
  ["started", { kind: "time" }],
  ["age", { kind: "span" }],
]);

const line: Readonly<Record<string, string | number | null>> = {
  status: "failed",
  state: "Review it",
  visits: 12,
  cost: null,
  started: Date.UTC(2026, 0, 31, 12),
  age: 3_600_000,
};

function fits(expression: string): boolean {
  const where = parseWhere(expression, fields);
  if (!where.ok) throw new Error(where.problem.message);
  return where.fits((name) => line[name] ?? null);
}

function problem(expression: string): string {
  const where = parseWhere(expression, fields);
  if (where.ok) throw new Error("it is right");
  return where.problem.message;
}

describe("an expression that chooses lines", () => {
  test.each([
    ["visits>10", true],
    ["visits > 12", false],
    ["visits >= 12 and visits <= 12 and visits = 12 and visits != 13", true],
    ["visits<12", false],
    ["status=failed", true],
    ["status == failed", true],
    ["status!=failed", false],
    ['state = "Review it"', true],
    ["state = 'Review it'", true],
    ["state ~ review", true],
    ["state !~ review", false],
    ['state ~ "\\""', false],
    ["visits>100 or status=failed", true],
    ["visits>100 or status=failed and visits<5", false],
    ["(visits>100 or status=failed) and visits>5", true],
    ["not visits>100", true],
    ["not (status=failed or visits>100)", false],
    ["NOT status=done AND visits>1", true],
    ["started>=2026-01-31", true],
    ["started<2026-01-31T12:00:00Z", false],
    ["started=2026-01-31T13:00+01:00", true],
    ["age<=1h", true],
    ["age>59m30s", true],
    ["age>1d", false],
    // What has no number is not compared.
    ["cost>0", false],
    ["cost<=0", false],
  ])("%s: %s", (expression, wanted) => expect(fits(expression)).toBe(wanted));

  test.each([
    [
      "",
      "the end stands where a name was expected, at character 1 (known: status, state, visits, cost, started, age)",
    ],
    [
      "visit>10",
      "there is no `visit`; did you mean `visits`?, at character 1 (known: status, state, visits, cost, started, age)",
    ],
    [
      "__proto__=1",
      "there is no `__proto__`, at character 1 (known: status, state, visits, cost, started, age)",
    ],
    [
      "visits",
      "the end stands where a comparison of `visits` was expected (= != > >= < <= ~ !~), at character 7",
    ],
    ["visits>", "the end stands where a value for `visits` was expected, at character 8"],
    ["visits>ten", "`ten` is no number, at character 8"],
    ["visits~1", "`visits` is no text, so nothing is contained in it (use = != > >= < <=), at character 8"],
    ["state>b", "`state` is a text and has no order (use = != ~ !~), at character 7"],
    ["status=lost", "`lost` is no status (known: done, failed), at character 8"],
    [
      "started>yesterday",
      "`yesterday` is no time (expected 2026-01-31 or 2026-01-31T12:00:00Z), at character 9",
    ],
    [
      "started>2026-02-31T25:00Z",
      "`2026-02-31T25:00Z` is no time (expected 2026-01-31 or 2026-01-31T12:00:00Z), at character 9",
    ],
    ["age>2", "`2` is no length of time (expected 30s, 15m, 2h, 7d or 1h30m), at character 5"],
    ["visits>1 status=done", "`status` stands where `and` or `or` was expected, at character 10"],
    ["(visits>1", "the end stands where `)` was expected, at character 10"],
    ["visits>1)", "`)` stands where `and` or `or` was expected, at character 9"],
    ['state="a', "a quote is not closed, at character 7"],
    [
      "visits>1 and",
      "the end stands where a name was expected, at character 13 (known: status, state, visits, cost, started, age)",
    ],
    ["visits!1", "`!` means nothing here, at character 7"],
  ])("%s is told to be wrong, and where", (expression, message) => expect(problem(expression)).toBe(message));

  test("what is too long or too deep is refused, and nothing overflows", () => {
    expect(problem("(".repeat(1_000))).toBe("more than 50 brackets stand inside each other, at character 52");
    expect(problem(`${"not ".repeat(400)}visits>1`)).toContain("more than 50 brackets");
    expect(problem("x".repeat(5_000))).toContain("longer than 2000 characters");
  });

  test("says which texts every line that fits has", () => {
    const needs = (expression: string) => {
      const where = parseWhere(expression, fields);
      return where.ok ? Object.fromEntries(where.needs) : undefined;
    };
    expect(needs("visits>1 and (status=done and state=x)")).toEqual({ status: "done", state: "x" });
    expect(needs("status=done or visits>1")).toEqual({});
    expect(needs("not status=done")).toEqual({});
    expect(needs("status!=done and state~x")).toEqual({});
  });
});
