// The table of mistakes is testdata/shape/mistakes.yaml; here it is executed, and what is left of a pack
// after a mistake is looked at.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Json } from "../../base/json.ts";
import { toPointer } from "../../base/json.ts";
import { checkShape } from "./check-shape.ts";

interface Edits {
  readonly remove?: readonly string[];
  readonly set?: Readonly<Record<string, Json>>;
}

interface Mistake extends Edits {
  readonly name: string;
  readonly code: string;
  readonly at: string;
  readonly on: string;
  readonly message: string;
  readonly why: string;
  readonly help: string;
}

const fixture = (name: string): string =>
  readFileSync(new URL(`../../../testdata/shape/${name}`, import.meta.url), "utf8");
const base = parse(fixture("base.yaml")) as Json;
const mistakes = parse(fixture("mistakes.yaml")) as readonly Mistake[];

/** The fixture with members removed and set, by JSON pointer. */
function edited({ remove = [], set = {} }: Edits): Json {
  const copy = structuredClone(base);
  for (const pointer of remove) change(copy, pointer, undefined);
  for (const [pointer, value] of Object.entries(set)) change(copy, pointer, value);
  return copy;
}

function change(document: Json, pointer: string, value: Json | undefined): void {
  const keys = pointer.slice(1).split("/");
  const last = keys.pop() as string;
  let owner = document as Record<string, Json>;
  for (const key of keys) owner = owner[key] as Record<string, Json>;
  if (value !== undefined) owner[last] = value;
  else if (Array.isArray(owner)) owner.splice(Number(last), 1);
  else delete owner[last];
}

const check = (edits: Edits) => checkShape(edited(edits));
const messages = (edits: Edits): string[] => check(edits).problems.map((problem) => problem.message);
const packOf = (edits: Edits) => check(edits).pack;

const states = "/workflow/states";
const steps = "/compositions/flow/steps";

describe("one mistake gives one problem", () => {
  test.each(mistakes)("$name", ({ code, at, on, message, why, help, ...edits }) => {
    const problems = check(edits).problems.map((problem) => ({
      code: problem.code,
      at: toPointer(problem.path),
      on: problem.on,
      message: problem.message,
      why: problem.why,
      help: problem.help,
    }));
    expect(problems).toEqual([{ code, at, on, message, why, help }]);
  });

  test("and two mistakes in one object give two", () => {
    expect(messages({ remove: ["/prompts/coder/id"], set: { "/prompts/coder/name": 7 } })).toHaveLength(2);
  });

  test("and the pack without mistakes gives none and is handed on as it is", () => {
    const { problems, pack, broken } = checkShape(base);
    expect({ problems, broken: [...broken] }).toEqual({ problems: [], broken: [] });
    expect(pack).toBe(base);
  });
});

describe("a problem", () => {
  test("carries its suggestion apart from the text", () => {
    const suggestion = (pointer: string, value: Json) =>
      check({ set: { [pointer]: value } }).problems[0]?.suggestion;
    expect(suggestion("/id", "My Desk")).toBe("my-desk");
    expect(suggestion(`${states}/end/max_vists`, 1)).toBe("max_visits");
    expect(suggestion(`${states}/end/hours`, 1)).toBeUndefined();
  });

  test("carries what its message says as data", () => {
    const [problem] = check({ set: { [`${states}/work/max_visits`]: 0 } }).problems;
    expect(problem?.data).toEqual({
      subject: "`max_visits` of state `work`",
      actual: 0,
      expected: "a whole number of at least 1",
    });
  });

  test("shows text clipped, on one line, without backquotes and control characters", () => {
    const hostile = `a\n\u001b[31mb\`${"c".repeat(1000)}`;
    const [message] = messages({ set: { [`${states}/work/control`]: hostile } });
    expect(message).toContain(`is \`a\\n\\u001b[31mb'${"c".repeat(50)}…\`, expected`);
  });

  test("is not made of a tool name the published pattern refuses", () => {
    expect(messages({ set: { "/tools/run_tests/name": "Run Tests" } })).toEqual([]);
  });

  test("is not made of a vendor's step kind or of unknown keys in open objects", () => {
    const set = {
      [`${steps}/0/kind`]: "acme.judge",
      [`${steps}/1/note`]: 1,
      "/workflow/engine/telemetry": {},
      "/metadata/team": [],
    };
    expect(messages({ set })).toEqual([]);
  });

  test("is worded at most a thousand times", () => {
    const wrong = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`key${i}`, i]));
    expect(messages({ set: { "/prompts": wrong, [`${steps}/0/input`]: 1 } })).toHaveLength(1000);
  });
});

describe("a document that is no mapping", () => {
  test.each([
    ["a list", []],
    ["text", "id: desk"],
    ["empty (null)", null],
  ])("but %s has one problem and leaves no pack", (words, document) => {
    const { problems, pack } = checkShape(document);
    expect(problems.map((problem) => problem.message)).toEqual([`the pack is ${words}, expected a mapping`]);
    expect(pack).toBeUndefined();
  });
});

describe("what is left of a pack", () => {
  test("an empty mapping becomes a neutral pack", () => {
    const { pack, broken } = checkShape({});
    expect(pack).toEqual({
      id: "pack",
      name: "pack",
      version: "0.0.0",
      template_engine: { version: "v1", syntax: "{{variable}}" },
      prompts: {},
    });
    expect([...broken]).toEqual(["/id", "/name", "/version", "/template_engine", "/prompts"]);
  });

  test("unknown properties and unusable optional values are dropped and marked", () => {
    const { pack, broken } = check({
      set: { [`${states}/work/max_vists`]: 3, [`${states}/work/max_visits`]: 0 },
    });
    expect(pack?.workflow?.states.work).toEqual({
      prompt_task: "coder",
      on_event: { Done: "end" },
      artifacts: { log: { type: "text/plain" } },
    });
    expect([...broken]).toEqual([`${states}/work/max_visits`, `${states}/work/max_vists`]);
  });

  test.each([
    ["a prompt", "/prompts/coder", { id: "coder", name: "coder", version: "0.0.0", system_template: "" }],
    ["a tool", "/tools/run_tests", { name: "run_tests", description: "" }],
    ["an artifact", `${states}/work/artifacts/log`, { type: "text/plain" }],
    ["a workflow", "/workflow", { version: 1, entry: "", states: {} }],
    ["the agents", "/agents", { entry: "", members: {} }],
    ["a composition", "/compositions/flow", { version: 1, steps: [] }],
    ["a state", `${states}/work`, {}],
  ])("%s without its required keys is filled with neutral values", (_, pointer, filled) => {
    const { pack } = check({ set: { [pointer]: {} } });
    let value = pack as unknown as Json;
    for (const key of pointer.slice(1).split("/")) value = (value as Record<string, Json>)[key] as Json;
    expect(value).toEqual(filled);
  });

  test("a variable keeps its name and gets a type", () => {
    const pack = packOf({ set: { "/prompts/coder/variables/0": { name: "topic" } } });
    expect(pack?.prompts.coder?.variables).toEqual([{ name: "topic", type: "string", required: false }]);
  });

  test.each([
    ["an eval without type", "/evals/0/type", "/evals/0"],
    ["a step without kind", `${steps}/0/kind`, `${steps}/0`],
    ["a variable without name", "/prompts/coder/variables/0/name", "/prompts/coder/variables/0"],
    ["a skill without path", "/skills/1/path", "/skills/1"],
  ])("%s is dropped whole and marked", (_, gone, marked) => {
    expect(check({ remove: [gone] }).broken).toContain(marked);
  });

  test("steps keep their place for references when a key is missing", () => {
    const { pack, broken } = check({ remove: [`${steps}/0/prompt_task`, `${steps}/1/predicate`] });
    expect(pack?.compositions?.flow?.steps.slice(0, 2)).toEqual([
      { id: "first", kind: "prompt", prompt_task: "", input: "hello" },
      expect.objectContaining({ id: "gate", kind: "branch", predicate: { all_of: [] } }),
    ]);
    expect(broken).toContain(`${steps}/0/prompt_task`);
  });

  test("a place in a list that closed up leads back to the document", () => {
    const { pack, broken, toSource } = check({
      set: { [`${steps}/0/kind`]: "promt", [`${steps}/2/note`]: 1 },
    });
    expect(pack?.compositions?.flow?.steps.map((step) => step.id)).toEqual(["gate", "fan"]);
    expect([...broken]).toEqual([`${steps}/0`]);
    const inFan = ["compositions", "flow", "steps", 1, "branches", 1, "tools"];
    expect(toSource(inFan)).toEqual(["compositions", "flow", "steps", 2, "branches", 1, "tools"]);
    expect(toSource(["evals", 0])).toEqual(["evals", 0]);
  });

  test("the document is not changed", () => {
    const document = edited({ set: { "/prompts/coder/tools/0": 1, [`${states}/work/max_vists`]: 3 } });
    const before = structuredClone(document);
    checkShape(document);
    expect(document).toEqual(before);
  });
});

describe("hostile keys", () => {
  const hostile = ["__proto__", "constructor", "toString", "hasOwnProperty", "a/b~c"];

  test.each(hostile)("a prompt called %s is checked and kept as an own key", (key) => {
    const text = JSON.stringify(base).replace('"prompts":{', `"prompts":{${JSON.stringify(key)}:{"id":1},`);
    const { problems, pack } = checkShape(JSON.parse(text) as Json);
    const words = problems.map(({ path, message }) => [toPointer(path), message.split(",")[0]]);
    expect(words).toContainEqual([
      toPointer(["prompts", key, "id"]),
      `\`id\` of prompt \`${key}\` is a number`,
    ]);
    expect(Object.keys(pack?.prompts ?? {})).toContain(key);
    expect(Object.getOwnPropertyDescriptor(pack?.prompts, key)?.value).toMatchObject({ id: key, name: key });
    expect(Object.getPrototypeOf(pack?.prompts)).toBe(Object.prototype);
  });

  test.each(hostile)("a state may not have a property called %s", (key) => {
    const text = JSON.stringify(base).replace('"work":{', `"work":{${JSON.stringify(key)}:1,`);
    const { problems } = checkShape(JSON.parse(text) as Json);
    expect(problems.map(({ code, path }) => [code, ...path])).toEqual([
      ["PP105", "workflow", "states", "work", key],
    ]);
  });

  test.each(hostile)("a step kind %s is refused like any other word", (kind) => {
    expect(messages({ set: { [`${steps}/0/kind`]: kind } })).toHaveLength(1);
  });
});

describe("large packs", () => {
  test("are checked in time that grows with their size, whatever is wrong in them", () => {
    const axes = Array.from({ length: 20_000 }, (_, i) => (i % 2 === 0 ? "model" : `m${i}`));
    const strays = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`prompt_tas${i}`, i]));
    let predicate: Json = { path: 1 };
    for (let depth = 0; depth < 40; depth++) predicate = { not: predicate, all_of: [], any_of: 1 };
    const document = edited({
      set: {
        "/metadata/governance/independent_of/axes": axes,
        [`${states}/work`]: strays,
        [`${steps}/0`]: { id: "first", kind: "prompt", ...strays },
        [`${steps}/1/predicate`]: predicate,
      },
    });
    expect(checkShape(document).problems.length).toBeGreaterThan(900);
  }, 5_000);
});
