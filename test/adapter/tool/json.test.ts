// Checking, querying and patching JSON, also of a kind that is meant to do harm.

import { describe, expect, test } from "vitest";
import { bindJson } from "../../../src/adapter/tool/json/bind-json.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { Bench, codeOf, problemsOf, valueOf } from "./fs-bench.ts";

async function called(options: JsonObject, args: JsonObject, files: Readonly<Record<string, string>> = {}) {
  await using bench = await Bench.make(files);
  const tool = bench.bind(bindJson, options);
  expect([tool.tier, tool.safe]).toEqual(["read", true]);
  return await bench.call(tool, args);
}

describe("validate", () => {
  const schema = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };

  test("says whether a value fits and what is wrong", async () => {
    expect(valueOf(await called({ op: "validate" }, { document: { n: 1 }, schema }))).toEqual({
      valid: true,
      errors: [],
    });
    const wrong = valueOf(
      await called({ op: "validate" }, { json: '{"n": "x"}', schema: JSON.stringify(schema) }),
    );
    expect(wrong).toMatchObject({ valid: false });
    expect((wrong["errors"] as readonly JsonObject[])[0]).toMatchObject({ path: "/n" });
  });

  test("counts every mistake once, and says how many are not shown", async () => {
    const document = Array.from({ length: 15 }, () => ({ n: "x", m: 1.5 }));
    const rows = {
      type: "array",
      items: { type: "object", properties: { n: { type: "integer" }, m: { type: "integer" } } },
    };
    const { errors, left_out } = valueOf(await called({ op: "validate" }, { document, schema: rows }));
    expect(errors).toHaveLength(20);
    expect(left_out).toBe(10);
    expect((errors as readonly JsonObject[])[0]).toMatchObject({ path: "/0/n" });
  });

  test("takes the schema of the binding, and a file of the workspace", async () => {
    const files = { "data.json": '{"n": 1.5}' };
    expect(valueOf(await called({ op: "validate", schema }, { file: "data.json" }, files))["valid"]).toBe(
      false,
    );
    expect(codeOf(await called({ op: "validate", schema }, { file: "../outside/secret.txt" }))).toBe(
      "outside_workspace",
    );
    expect(codeOf(await called({ op: "validate", schema }, { file: "none.json" }))).toBe("not_found");
    expect(codeOf(await called({ op: "validate", schema }, { file: "x.json" }, { "x.json": "{" }))).toBe(
      "not_json",
    );
  });

  test.each<[string, Json, Json]>([
    ["bad_schema", { $ref: "#" }, 1],
    ["bad_schema", { $ref: "#/nowhere" }, 1],
    ["bad_schema", { $ref: "https://example.com/schema" }, 1],
    ["bad_schema", { pattern: "(" }, "x"],
    ["bad_schema", "text", 1],
    ["too_slow", { pattern: "^(a+)+$" }, `${"a".repeat(60)}!`],
  ])("answers %s to the schema %j", async (code, schema, document) => {
    expect(codeOf(await called({ op: "validate" }, { document, schema }))).toBe(code);
  });
});

describe("query", () => {
  const document = {
    items: [
      { name: "a", n: 1 },
      { name: "b", n: 2 },
    ],
    __proto__x: 1,
  };

  test.each<[string, readonly Json[]]>([
    ["$.items[*].name", ["a", "b"]],
    ["$.items[?@.n > 1].name", ["b"]],
    ["$..n", [1, 2]],
    ["$.items[-1:]", [{ name: "b", n: 2 }]],
    ["$.none", []],
    ["$.constructor", []],
  ])("%s", async (query, values) => {
    expect(valueOf(await called({ op: "query" }, { data: document, path: query }))).toEqual({ values });
  });

  test("what is no JSONPath is refused, what takes too long is stopped, what is too much is cut", async () => {
    expect(codeOf(await called({ op: "query" }, { document, query: "items[" }))).toBe("bad_query");
    const slow = { document: { s: `${"a".repeat(60)}!` }, query: "$[?match(@, '(a+)+')]" };
    expect(codeOf(await called({ op: "query" }, slow))).toBe("too_slow");
    const many = Array.from({ length: 5000 }, (_, index) => index);
    const cut = valueOf(await called({ op: "query", query: "$[*]" }, { document: many }));
    expect(cut["values"]).toHaveLength(2000);
    expect(cut["left_out"]).toBe(3000);
  });
});

describe("patch", () => {
  test.each<[Json, Json, Json]>([
    [{ a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
    [{ a: [1, 2] }, [{ op: "remove", path: "/a/0" }], { a: [2] }],
    [{ a: 1 }, [{ op: "move", from: "/a", path: "/b" }], { b: 1 }],
    [
      { a: 1 },
      [
        { op: "test", path: "/a", value: 1 },
        { op: "replace", path: "", value: [] },
      ],
      [],
    ],
    [
      { a: { b: 1, c: 2 }, d: 3 },
      { a: { b: null }, d: 4 },
      { a: { c: 2 }, d: 4 },
    ],
    [[1], { a: 1 }, { a: 1 }],
  ])("of %j by %j", async (document, patch, expected) => {
    expect(valueOf(await called({ op: "patch" }, { document, patch }))).toEqual({ document: expected });
  });

  test.each<[string, Json]>([
    ["bad_patch", [{ op: "test", path: "/a", value: 2 }]],
    ["bad_patch", [{ op: "remove", path: "/none" }]],
    ["bad_patch", [{ op: "_get", path: "/a" }]],
    ["bad_patch", [{ op: "add", path: "/__proto__/polluted", value: 1 }]],
    ["bad_patch", [{ op: "add", path: "/constructor/prototype/polluted", value: 1 }]],
    ["bad_patch", ["add"]],
    ["bad_patch", 3],
  ])("answers %s to %j", async (code, patch) => {
    const answer = await called({ op: "patch" }, { document: { a: 1 }, patch });
    expect(codeOf(answer)).toBe(code);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("a merged `__proto__` is an ordinary key", async () => {
    const patch = JSON.parse('{"__proto__": {"polluted": 1}}') as Json;
    const answer = valueOf(await called({ op: "patch" }, { document: {}, patch }));
    expect(JSON.stringify(answer)).toBe('{"document":{"__proto__":{"polluted":1}}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("copies of copies end at the limit", async () => {
    const patch = Array.from({ length: 60 }, (_, index) => ({ op: "copy", from: "", path: `/k${index}` }));
    expect(codeOf(await called({ op: "patch" }, { document: { a: "x".repeat(1000) }, patch }))).toBe(
      "too_large",
    );
  });
});

test("more than five megabytes are refused, options are checked", async () => {
  const document = "x".repeat(5 * 1024 * 1024);
  expect(codeOf(await called({ op: "query" }, { document, query: "$" }))).toBe("too_large");
  await using bench = await Bench.make();
  expect(problemsOf(bindJson, { op: "validate", query: "$" }, bench.around)).toHaveLength(1);
  expect(problemsOf(bindJson, { op: "merge" }, bench.around)).toHaveLength(1);
});
