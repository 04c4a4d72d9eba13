import { describe, expect, test } from "vitest";
import type { Json } from "../base/json.ts";
import { linkPack } from "../pack/link.ts";
import type { PackFile } from "../pack/shape/generated/pack-file.ts";
import type { RunStart } from "./reachable-prompts.ts";
import { type GivenVariables, resolveVariables } from "./variables.ts";

const prompt = (...variables: object[]) => {
  return { id: "p", name: "P", version: "1.0.0", system_template: "{{x}}", variables };
};

const start: RunStart = { kind: "prompt", name: "p" };

function resolve(variables: readonly object[], given: GivenVariables) {
  const program = linkPack({
    id: "sample",
    name: "Sample",
    version: "1.0.0",
    template_engine: { version: "v1", syntax: "{{variable}}" },
    prompts: { p: prompt(...variables) },
  } as unknown as PackFile);
  return resolveVariables(program, start, given);
}

const messages = (variables: readonly object[], given: GivenVariables) =>
  resolve(variables, given).problems.map((problem) => problem.message);

const needed = (name: string, type: string, validation: object = {}) => ({
  name,
  type,
  required: true,
  validation,
});

describe("types", () => {
  const cases: readonly (readonly [type: string, text: string, value: Json])[] = [
    ["string", "12", "12"],
    ["number", "12", 12],
    ["number", " -1.5e3 ", -1500],
    ["boolean", "true", true],
    ["boolean", "false", false],
    ["object", '{"__proto__": 1}', JSON.parse('{"__proto__": 1}') as Json],
    ["array", "[1, 2]", [1, 2]],
    ["duration", "5m", "5m"],
  ];

  test.each(cases)("a text for a variable of type %s, %j, is converted", (type, text, value) => {
    const { values, problems } = resolve([needed("x", type)], { texts: { x: text } });
    expect(problems).toEqual([]);
    expect(values["x"]).toEqual(value);
  });

  test.each([
    ["number", "twelve"],
    ["number", ""],
    ["number", "0x10"],
    ["number", "1e999"],
    ["boolean", "yes"],
    ["object", "[1]"],
    ["object", "{"],
    ["array", "1,2"],
  ])("a text that is no %s is a problem: %j", (type, text) => {
    const article = /^[oa]/.test(type) ? "an" : "a";
    expect(messages([needed("x", type)], { texts: { x: text } })).toEqual([
      `variable \`x\` must be ${article} ${type}, not \`${text}\``,
    ]);
  });

  test("a value that is already JSON is not converted", () => {
    expect(messages([needed("x", "number")], { values: { x: "12" } })).toEqual([
      "variable `x` must be a number, not `12`",
    ]);
  });

  test("a text wins over a value of the same name", () => {
    expect(resolve([needed("x", "number")], { values: { x: 1 }, texts: { x: "2" } }).values).toEqual({
      x: 2,
    });
  });
});

describe("validation", () => {
  test.each([
    [{ pattern: "^[A-Z]" }, "string", "abc", "must match the pattern `^[A-Z]`, which `abc` does not"],
    [{ min_length: 3 }, "string", "😀😀", "must have at least 3 characters, not 2"],
    [{ max_length: 2 }, "string", "abc", "must have at most 2 characters, not 3"],
    [{ minimum: 5 }, "number", "4", "must be at least 5, not 4"],
    [{ maximum: 5 }, "number", "6", "must be at most 5, not 6"],
    [{ enum: ["en", "de"] }, "string", "fr", "must be one of `en`, `de`, not `fr`"],
    [{ enum: [{ a: 1 }] }, "object", '{"a": 2}', 'must be one of `{"a":1}`, not `{"a":2}`'],
  ])("%j refuses a %s %j", (validation, type, text, problem) => {
    expect(messages([needed("x", type, validation)], { texts: { x: text } })).toEqual([
      `variable \`x\` ${problem}`,
    ]);
  });

  test.each([
    [{ pattern: "b" }, "string", "abc"],
    [{ min_length: 2, max_length: 2 }, "string", "😀😀"],
    [{ minimum: 5, maximum: 5 }, "number", "5"],
    [{ enum: [{ a: [1] }] }, "object", '{"a": [1]}'],
    [{ minimum: 5, pattern: "z" }, "boolean", "true"],
  ])("%j accepts a %s %j", (validation, type, text) => {
    expect(messages([needed("x", type, validation)], { texts: { x: text } })).toEqual([]);
  });

  test("a default that is used is validated as well", () => {
    const variable = { name: "x", type: "number", required: true, default: 9, validation: { maximum: 5 } };
    expect(messages([variable], {})).toEqual(["the default of variable `x` must be at most 5, not 9"]);
    expect(messages([variable], { texts: { x: "1" } })).toEqual([]);
  });

  test("a pattern that can hang is not run, and that is said", () => {
    const variable = needed("x", "string", { pattern: "^(a+)+$" });
    const { problems } = resolve([variable], { texts: { x: `${"a".repeat(60)}!` } });
    expect(problems.map(({ code }) => code)).toEqual(["unchecked"]);
    expect(problems[0]?.message).toContain("can hang on a short text");
  });

  test("a text too long for any pattern is not tried", () => {
    const { problems } = resolve([needed("x", "string", { pattern: "a" })], {
      texts: { x: "a".repeat(10_001) },
    });
    expect(problems).toMatchObject([{ code: "unchecked" }]);
    expect(
      resolve([needed("x", "string", { pattern: "a" })], { texts: { x: "a".repeat(10_000) } }).problems,
    ).toEqual([]);
  });
});

describe("a run's start (S40)", () => {
  test("every problem is reported at once", () => {
    const variables = [
      needed("a", "string"),
      needed("b", "number"),
      needed("c", "string", { min_length: 2 }),
    ];
    expect(
      resolve(variables, { texts: { b: "x", c: "y" } }).problems.map(({ code, variable }) => [
        code,
        variable,
      ]),
    ).toEqual([
      ["missing", "a"],
      ["type", "b"],
      ["validation", "c"],
    ]);
  });

  test("a missing variable names the one that was probably meant", () => {
    expect(messages([needed("requirements", "string")], { texts: { requirments: "x" } })).toEqual([
      "variable `requirements` is required and has no value (`requirments` was given, did you mean it?)",
    ]);
  });

  test("a required variable with a default has a value", () => {
    expect(messages([{ name: "x", type: "string", required: true, default: "y" }], {})).toEqual([]);
  });

  test("values no prompt declares are kept as text", () => {
    expect(resolve([], { texts: { month: "5", constructor: "c" } }).values).toEqual({
      month: "5",
      constructor: "c",
    });
  });

  test("a variable two prompts declare alike is reported once, and each prompt's own demand is seen", () => {
    const program = linkPack({
      id: "sample",
      name: "Sample",
      version: "1.0.0",
      template_engine: { version: "v1", syntax: "{{variable}}" },
      prompts: { p: prompt(needed("x", "number")), q: prompt(needed("x", "number"), needed("y", "string")) },
      workflow: {
        version: 1,
        entry: "a",
        states: {
          a: { prompt_task: "p", on_event: { Go: "b" } },
          b: { prompt_task: "q", terminal: true },
        },
      },
    } as unknown as PackFile);
    const { problems } = resolveVariables(program, { kind: "state", name: "a" }, { texts: { x: "no" } });
    expect(problems.map(({ variable, prompt: at }) => [variable, at])).toEqual([
      ["x", "p"],
      ["y", "q"],
    ]);
  });
});

describe("a binding", () => {
  const bound = (binding: object, more: object = {}) => [
    { name: "x", type: "string", required: false, binding, ...more },
  ];
  const env = (source: string, field: string) =>
    source === "env" && field === "REGION" ? " North " : undefined;

  test("fills what the caller does not give, before the default does", () => {
    const packed = bound({ kind: "env", field: "REGION", auto_populate: true }, { default: "south" });
    expect(resolve(packed, { bound: env }).values).toEqual({ x: " North " });
    expect(resolve(packed, { bound: env, values: { x: "east" } }).values).toEqual({ x: "east" });
    expect(resolve(packed, { bound: env, texts: { x: "west" } }).values).toEqual({ x: "west" });
  });

  test("is filtered", () => {
    const trimmed = bound({ kind: "env", field: "REGION", auto_populate: true, filter: "trim" });
    expect(resolve(trimmed, { bound: env }).values).toEqual({ x: "North" });
  });

  test("does nothing by itself unless it says so, and a missing entry stays missing", () => {
    expect(resolve(bound({ kind: "env", field: "REGION" }), { bound: env }).values).toEqual({});
    const absent = bound({ kind: "env", field: "OTHER", auto_populate: true }, { required: true });
    expect(resolve(absent, { bound: env }).problems).toMatchObject([{ code: "missing" }]);
  });
});
