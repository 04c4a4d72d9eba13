// The YAML parser: values as YAML 1.2 has them, positions, and one clear refusal for what cannot be read.

import { describe, expect, test } from "vitest";
import type { Finding } from "../diagnostic.ts";
import { limits } from "./limits.ts";
import { parseYaml } from "./parse-yaml.ts";
import { entryAt, type Node, nodeAt, toJson } from "./tree.ts";

function roots(text: string): readonly Node[] {
  const { documents, findings } = parseYaml(text);
  if (findings[0] !== undefined) throw new Error(findings[0].message);
  return documents;
}

const root = (text: string): Node => roots(text)[0] as Node;
const value = (text: string): unknown => toJson(root(text));

function refusal(text: string): Finding {
  const { findings } = parseYaml(text);
  expect(findings).toHaveLength(1);
  return findings[0] as Finding;
}

const pointedAt = (text: string): string => {
  const { span } = refusal(text);
  return text.slice(span.start, span.end);
};

describe("values", () => {
  test("are those of YAML 1.2, whatever a directive says", () => {
    const text = "a: yes\nb: on\nc: 0o17\nd: 012\ne: 1e3\nf: ~\ng: true\nh: 2026-03-01\ni: 1:30\nj: 1_000\n";
    const expected = {
      a: "yes",
      b: "on",
      c: 15,
      d: 12,
      e: 1000,
      f: null,
      g: true,
      h: "2026-03-01",
      i: "1:30",
      j: "1_000",
    };
    expect(value(text)).toEqual(expected);
    expect(value(`%YAML 1.1\n---\n${text}`)).toEqual(expected);
  });

  test("of keys are texts as written", () => {
    expect(Object.keys(value("true: 1\n012: 2\n~: 3\n1e3: 4\nnull: 5\n: 6\n") as object)).toEqual([
      "true",
      "012",
      "~",
      "1e3",
      "null",
      "",
    ]);
  });

  test("of texts follow the style they are written in", () => {
    const blocks = "a: |\n  one\n   two\n\n  three\nb: >-\n  one\n  two\n";
    const text = `${blocks}c: 'it''s'\nd: "x\\ty\\\n   z"\ne: one\n  two\n`;
    expect(value(text)).toEqual({
      a: "one\n two\n\nthree\n",
      b: "one two",
      c: "it's",
      d: "x\tyz",
      e: "one two",
    });
  });

  test("do not change with line ends", () => {
    const text = "a: |\n  one\n  two\nb:\n  - c: 1\n    d: 'x'\n";
    expect(value(text.replaceAll("\n", "\r\n"))).toEqual(value(text));
  });

  test("of missing scalars are null", () => {
    expect(value("a:\nb: [c, ]\nd: {e, f: }\n")).toEqual({ a: null, b: ["c"], d: { e: null, f: null } });
  });

  test("keep a key called __proto__ as an ordinary key", () => {
    const object = value("__proto__: { polluted: 1 }\ntoString: 2\n") as object;
    expect(Object.keys(object)).toEqual(["__proto__", "toString"]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("of a key that occurs twice are those of the first, and both stay in the tree", () => {
    const node = root("a: 1\na: 2\n");
    expect(toJson(node)).toEqual({ a: 1 });
    expect(node.kind === "map" && node.entries.length).toBe(2);
  });

  test("may begin with a byte order mark", () => {
    expect(value("\ufeffa: 1\n")).toEqual({ a: 1 });
  });
});

describe("documents", () => {
  test("of a stream come in order, empty ones left out", () => {
    expect(roots("---\na: 1\n---\n---\n# nothing\n---\nb: 2\n...\n").map(toJson)).toEqual([
      { a: 1 },
      { b: 2 },
    ]);
  });

  test("of an empty text are none", () => {
    expect(roots("# only a comment\n")).toEqual([]);
  });

  test("a mistake in one of them refuses the stream", () => {
    const text = "a: 1\n---\nb: [1\n";
    expect(refusal(text).message).toBe("the list opened with `[` is not closed");
    expect(pointedAt(text)).toBe("[");
  });

  test("more than a thousand are refused", () => {
    const stream = (count: number) => "a: 1\n---\n".repeat(count);
    expect(roots(stream(limits.documents))).toHaveLength(limits.documents);
    expect(refusal(stream(limits.documents + 1))).toMatchObject({
      code: "PP104",
      message: "file has more than 1000 documents",
    });
  });
});

describe("positions", () => {
  const text = 'größe: &g "zehn"\nliste:\n  - 😀: |\n      a\n      b\n  - *g\n';

  test("of values are offsets into the text", () => {
    const shown = (path: (string | number)[]) => {
      const { span } = nodeAt(root(text), path) as Node;
      return text.slice(span.start, span.end);
    };
    expect(shown(["größe"])).toBe('"zehn"');
    expect(shown(["liste", 0, "😀"])).toBe("|\n      a\n      b\n");
  });

  test("of keys do not hold anchors or tags", () => {
    const tagged = "&k !!str no: 1\n";
    const { keySpan } = entryAt(root(tagged), ["no"]) ?? { keySpan: { start: 0, end: 0 } };
    expect(tagged.slice(keySpan.start, keySpan.end)).toBe("no");
  });

  test("of an alias are those of the value it repeats", () => {
    const { span } = nodeAt(root(text), ["liste", 1]) as Node;
    expect(text.slice(span.start, span.end)).toBe('"zehn"');
  });

  test("of a missing value stand behind its key", () => {
    expect(nodeAt(root("a:\nb: 1\n"), ["a"])?.span).toEqual({ start: 2, end: 2 });
  });

  test("say how keys and values are written", () => {
    const node = root("'a': \"x\"\n\"b\": 'x'\nc: x\nd: |\n  x\ne: >\n  x\nf: {}\ng:\n  - 1\n");
    const entries = node.kind === "map" ? node.entries : [];
    expect(entries.map((entry) => entry.keyStyle).slice(0, 3)).toEqual(["single", "double", "plain"]);
    expect(
      entries.slice(0, 5).map((entry) => (entry.value.kind === "scalar" ? entry.value.style : "")),
    ).toEqual(["double", "single", "plain", "literal", "folded"]);
    expect(entries.slice(5).map((entry) => entry.value.kind !== "scalar" && entry.value.flow)).toEqual([
      true,
      false,
    ]);
  });
});

describe("aliases", () => {
  test("repeat the last value marked before them", () => {
    expect(value("a: &x 1\nb: *x\nc: &x 2\nd: *x\n")).toEqual({ a: 1, b: 1, c: 2, d: 2 });
  });

  test("repeat whole mappings, aliases inside them included", () => {
    expect(value("a: &x { p: 1 }\nb: &y [*x, *x]\nc: *y\n")).toEqual({
      a: { p: 1 },
      b: [{ p: 1 }, { p: 1 }],
      c: [{ p: 1 }, { p: 1 }],
    });
  });

  test("without an anchor before them are refused", () => {
    expect(refusal("a: *x\nb: &x 1\n").message).toBe("alias `*x` has no anchor");
  });

  test("of another document are not known", () => {
    expect(refusal("a: &x 1\n---\nb: *x\n").message).toBe("alias `*x` has no anchor");
  });

  test("inside the value they repeat are refused", () => {
    expect(refusal("a: &x { b: [*x] }\n").message).toBe("alias `*x` stands inside the value it repeats");
  });

  test("may be a hundred", () => {
    const list = (count: number) => `a: &x 1\nb: [${Array(count).fill("*x").join(", ")}]\n`;
    expect(root(list(limits.aliasExpansions)).kind).toBe("map");
    expect(refusal(list(limits.aliasExpansions + 1))).toMatchObject({
      code: "PP104",
      message: "aliases expand more than 100 times",
    });
  });

  test("that multiply are counted where they expand", () => {
    const line = (name: string, of: string) => `${name}: &${name} [${Array(9).fill(`*${of}`).join(", ")}]\n`;
    const text = `a: &a [x]\n${line("b", "a")}${line("c", "b")}${line("d", "c")}`;
    expect(refusal(text)).toMatchObject({ code: "PP104", message: "aliases expand more than 100 times" });
  });

  test("as keys are refused", () => {
    expect(refusal("a: &x b\n*x : 1\n").message).toBe("a key is an alias");
  });
});

describe("what is no JSON data", () => {
  test.each([
    ["a: 1\n<<: { b: 2 }\n", "a merge key `<<` is not JSON data", "<<"],
    ["? [a]\n: 1\n", "a key is a list", "["],
    ["? { a: 1 }\n: 1\n", "a key is a mapping", "{"],
    ["a: .nan\n", "`.nan` has no JSON form", ".nan"],
    ["a: -.inf\n", "`-.inf` has no JSON form", "-.inf"],
    ["a: 1e400\n", "`1e400` has no JSON form", "1e400"],
    ["a: !!binary aGk=\n", "the tag has no JSON meaning", "!!binary"],
    ["a: !!set { b }\n", "the tag has no JSON meaning", "!!set"],
    ["a: !!omap [b: 1]\n", "the tag has no JSON meaning", "!!omap"],
    ["a: !own b\n", "the tag has no JSON meaning", "!own"],
  ])("%j is refused", (text, message, at) => {
    expect(refusal(text)).toMatchObject({ code: "PP102", message });
    expect(pointedAt(text)).toBe(at);
  });

  test("but tags of JSON types are read", () => {
    expect(value("a: !!str 1\nb: !!int 2\nc: !!map { d: !!seq [] }\n")).toEqual({
      a: "1",
      b: 2,
      c: { d: [] },
    });
  });

  test("a quoted `<<` is a key like any other", () => {
    expect(value('"<<": 1\n')).toEqual({ "<<": 1 });
  });
});

describe("slips are told where they were made", () => {
  test.each([
    ['a: "x\nb: 1\n', "the quoted text is not closed", '"'],
    ["a: [1, 2\nb: 3\n", "the list opened with `[` is not closed", "["],
    ["a: { b: [1, 2 }\nc: 1\n", "expected `]`, found `}`", "}"],
    ["a: { b: 1\nc: 2\n", "the mapping opened with `{` is not closed", "{"],
    ["a: ]\n", "unexpected `]`", "]"],
    ["a: {{x}} y\n", "a text that begins with `{{` is not quoted", "{{"],
    ["- {{x}}\n", "a text that begins with `{{` is not quoted", "{{"],
    ["a: *b* c\n", "a text that begins with `*` is not quoted", "*"],
    ["a: 'b' c\n", "text follows a closing quote", "c"],
    ["a: b: c\n", "an unquoted text holds a colon followed by a space", ":"],
    [
      "a: 1\n  b: 2\n",
      "this line is indented deeper than the entry above, which already has a value",
      "b: 2",
    ],
    ["a:\n   b: 1\n  c: 2\n", "this line is indented differently from its neighbours", "c: 2"],
    ["a\nb: 1\n", "a colon is missing in this line", "a"],
    ["a:b\nc: 1\n", "a space is missing after `:`", ":"],
    ["a: 1\nb\n", "a colon is missing after this key", "b"],
    ["a: - b\n", "a list begins on the line of its key", "-"],
    ["\ta: 1\n", "a tab is used as indentation", "\t"],
    [
      'a: { "b": 1 "c": 2 }\n',
      "a comma is missing between two entries, or a block stands inside brackets",
      '1 "c": 2 ',
    ],
    ['a: ["b" "c"]\n', "a comma or colon is missing between two entries", '"'],
    ["a: &\n", "this is not an anchor", "&"],
    ["%FOO\n---\na: 1\n", "this directive is not understood", "%FOO"],
  ])("%j", (text, message, at) => {
    expect(refusal(text)).toMatchObject({ code: "PP102", message });
    expect(pointedAt(text)).toBe(at);
  });
});

describe("limits", () => {
  const refusedAs = (text: string) => {
    const { code, message, span } = refusal(text);
    return { code, message, char: text.slice(span.start, span.end) };
  };
  const deep = { code: "PP104", message: "document is more than 64 levels deep" };
  const indented = (mark: string) => Array.from({ length: 200 }, (_, i) => " ".repeat(i) + mark).join("\n");

  test("64 levels are read and 65 are not", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect(root(nested(64)).kind).toBe("list");
    expect(refusal(nested(65))).toMatchObject({ ...deep, span: { start: 64, end: 65 } });
  });

  test.each([
    ["brackets", "[".repeat(100_000), "["],
    ["braces", "{a: ".repeat(100_000), "{"],
    ["dashes", "- ".repeat(100_000), "-"],
    ["question marks", "? ".repeat(100_000), "?"],
    ["both", "- ? ".repeat(100_000), "-"],
    ["colons", ": ".repeat(100_000), ":"],
    ["keys on one line", "a: ".repeat(100_000), ":"],
    ["keys on many lines", indented("a:"), "a"],
    ["dashes on many lines", indented("-"), "-"],
    ["question marks on many lines", indented("?"), "?"],
  ])("nesting in %s is refused", (_name, text, char) => {
    expect(refusedAs(text)).toEqual({ ...deep, char });
  });

  test("nesting through aliases counts", () => {
    const level = "[".repeat(40);
    const text = `a: &a ${level}x${"]".repeat(40)}\nb: ${level}*a${"]".repeat(40)}\n`;
    expect(refusal(text)).toMatchObject(deep);
  });

  test("dashes in texts and comments are not levels", () => {
    const dashes = "- ".repeat(100);
    expect(value(`# ${dashes}\na: |\n  ${dashes}x\nb: "${dashes}"\n`)).toEqual({
      a: `${dashes}x\n`,
      b: dashes,
    });
  });

  test("a list may not have more than 200,000 values", () => {
    expect(refusal(`[${"1,".repeat(limits.nodes + 1)}`)).toMatchObject({
      code: "PP104",
      message: "document has more than 200000 values",
    });
  });

  test.each([
    ["blank lines", "\n".repeat(200_000)],
    ["comments", "# x\n".repeat(200_000)],
    ["anchors", "&a ".repeat(100_000)],
    ["closing brackets", "]".repeat(200_000)],
    ["quotes", '"'.repeat(400_000)],
  ])("a text of nothing but %s is refused soon", (_name, text) => {
    expect(refusal(text)).toMatchObject({
      code: "PP104",
      message: "document has too many blank lines, comments or marks for its values",
    });
  });

  test("long texts are not counted by their lines", () => {
    const text = `a: |\n${"  x\n".repeat(200_000)}`;
    expect((value(text) as { a: string }).a).toHaveLength(400_000);
  });
});
