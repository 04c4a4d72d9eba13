import { describe, expect, test } from "vitest";
import { parseJson } from "../../read/parse-json.ts";
import { parseYaml } from "../../read/parse-yaml.ts";
import type { Node } from "../../read/tree.ts";
import { editInText, placeInText } from "./text-map.ts";

/**
 * What the source holds at the place of the first `@` of the value; undefined when the place is not known.
 */
function found(text: string, root: Node | undefined, path: readonly string[] = ["t"]): string | undefined {
  if (root === undefined) return undefined;
  const value = valueOf(root, path);
  const start = value.indexOf("{{");
  const place = placeInText({ root, text }, path, { start, end: value.indexOf("}}") + 2 });
  return place.within === undefined ? undefined : text.slice(place.within.start, place.within.end);
}

function valueOf(root: Node, [key]: readonly string[]): string {
  if (root.kind !== "map") return "";
  const entry = root.entries.find((one) => one.key === key);
  return entry?.value.kind === "scalar" ? String(entry.value.value) : "";
}

const yaml = (text: string): Node | undefined => parseYaml(text).documents[0];

function json(text: string): Node | undefined {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.root : undefined;
}

describe("a part of a text is found in the source", () => {
  test.each([
    ["plain", "t: see {{name}} now"],
    ["plain over lines", "t: see the\n  long {{name}}\n  now"],
    ["single quotes with a quote inside", "t: 'it''s {{name}}'"],
    ["double quotes with escapes", 't: "a\\tb \\"c\\" \\u00e9 \\U0001F600 \\_ {{name}}"'],
    ["double quotes over lines", 't: "a \\\n   b\n\n   {{name}}"'],
    ["a literal block", "t: |\n  first\n    second {{name}}\n\n  last"],
    ["a literal block with its own indentation", "t: |2-\n    first\n  {{name}}\n"],
    ["a folded block", "t: >-\n  first\n  second\n\n  third {{name}}\n"],
    ["a letter beyond the basic plane", "t: 😀 {{name}}"],
  ])("in %s", (_style, text) => {
    expect(found(text, yaml(text))).toBe("{{name}}");
  });

  test("in JSON behind every kind of escape", () => {
    const text = '{"t": "\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\ude00 {{name}}"}';
    expect(found(text, json(text))).toBe("{{name}}");
  });

  test("broken over two lines, from its first to its last character", () => {
    const text = "t: see {{\n  name }} now";
    expect(found(text, yaml(text))).toBe("{{\n  name }}");
  });

  test("where it is written, when an alias repeats it", () => {
    const text = "a: &x see {{name}}\nt: *x";
    expect(found(text, yaml(text), ["t"])).toBe("{{name}}");
  });
});

test("the whole value is the place of a part that begins with white space", () => {
  const text = "t: a b";
  const root = yaml(text) as Node;
  expect(placeInText({ root, text }, ["t"], { start: 1, end: 3 })).toEqual({ path: ["t"], on: "value" });
});

test("there is no edit where the source does not spell the value", () => {
  const text = "t: something else";
  const root: Node = {
    kind: "scalar",
    span: { start: 3, end: text.length },
    style: "plain",
    value: "see {{name}}",
  };
  expect(editInText({ root, text }, [], { part: { start: 4, end: 12 }, written: "x" })).toEqual([]);
});
