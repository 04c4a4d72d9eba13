// Whatever a test file holds, reading it finds tests or mistakes with their places, and never breaks.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { isObject, type Json, put } from "../../base/json.ts";
import { Mistakes } from "./document.ts";
import { readTests } from "./read-tests.ts";

const folder = mkdtempSync(join(tmpdir(), "packloop-read-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const states = { work: [{ calls: [{ tool: "look", args: {} }] }, { event: "Done" }] };

const whole: Json = {
  pack: "p.yaml",
  config: "packloop.yaml",
  variables: { a: 1 },
  approvals: ["look"],
  timeout: "30s",
  tests: [
    {
      ...{ name: "a", script: { states }, input: "x", prompt: "p", mode: "conversational", skip: "later" },
      budgets: { max_tool_calls: 3 },
      events: { gate: [{ event: "Yes", by: "ann" }] },
      people: [
        { approve: "look", edit: { a: 1 } },
        { reject: "look", reason: "no" },
        { answer: "look", value: null },
        { say: "x", by: "ann" },
        { send: "Yes", context: "c", artifacts: { a: 1 } },
        { cancel: "enough" },
      ],
      expect: {
        ...{ status: "completed", reason: { code: "c", message: { contains: "x" } }, state: "end" },
        path: ["work", "end"],
        transitions: [{ from: "work", event: "Done", to: "end" }],
        visits: { work: 1 },
        artifacts: { a: { length: { min: 1 } }, b: { schema: { type: "string" } }, c: { matches: "x+" } },
        output: { equals: "x" },
        used: { max_cost_usd: 1 },
        checks: [
          { type: "contains", params: { patterns: ["x"] }, message: "m", when: { tool_called: "look" } },
        ],
      },
    },
  ],
};

function read(value: Json): { readonly names: readonly string[]; readonly mistakes: readonly string[] } {
  const file = join(folder, "a.test.json");
  writeFileSync(file, JSON.stringify(value));
  const mistakes = new Mistakes();
  const tests = readTests([file], {}, mistakes);
  return { names: tests.map(({ name }) => name), mistakes: mistakes.lines };
}

/** Every place in a value. */
function* places(
  value: Json,
  path: readonly (string | number)[] = [],
): Generator<readonly (string | number)[]> {
  yield path;
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* places(item as Json, [...path, index]);
  else if (isObject(value))
    for (const [key, item] of Object.entries(value)) yield* places(item, [...path, key]);
}

function replaced(value: Json, [first, ...rest]: readonly (string | number)[], by: Json): Json {
  if (first === undefined) return by;
  if (Array.isArray(value))
    return value.map((item: Json, index) => (index === first ? replaced(item, rest, by) : item));
  const copy: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value as object))
    put(copy, key, key === first ? replaced(item as Json, rest, by) : item);
  return copy;
}

test("a file with everything in it is read without a mistake", () => {
  expect(read(whole)).toEqual({ names: ["a"], mistakes: [] });
});

test("a value that is replaced by anything gives tests, or mistakes that say where", () => {
  const anywhere = fc.constantFrom(...places(whole));
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
    fc.constantFrom<Json>("__proto__", { __proto__: 1 }, { constructor: [] }, [[]], [null], "(((", 1e300, -1),
  );
  fc.assert(
    fc.property(anywhere, anything, (path, by) => {
      const { names, mistakes } = read(replaced(whole, path, by));
      expect(names.length + mistakes.length).toBeGreaterThan(0);
      for (const line of mistakes) expect(line).toMatch(/^\S+a\.test\.json:\d+:\d+: ./);
    }),
    { numRuns: 600 },
  );
});
