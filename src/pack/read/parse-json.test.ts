// The JSON parser: values as JSON.parse has them, positions, and where a slip is told.

import { describe, expect, test } from "vitest";
import type { Finding } from "../diagnostic.ts";
import { limits } from "./limits.ts";
import { parseJson } from "./parse-json.ts";
import { type Node, nodeAt, toJson } from "./tree.ts";

function root(text: string): Node {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(parsed.finding.message);
  return parsed.root;
}

function refusal(text: string): Finding {
  const parsed = parseJson(text);
  if (parsed.ok) throw new Error("it was read");
  return parsed.finding;
}

const pointedAt = (text: string): string => {
  const { span } = refusal(text);
  return text.slice(span.start, span.end);
};

describe("values", () => {
  test.each([
    '{"a": [1, -0.5, 2e3, true, false, null, "x"], "b": {"c": {}}, "d": []}',
    '"just text"',
    " \t\r\n[ 1 ,\r\n2 ] \n",
    '{"\\u0061\\n\\"\\\\\\/\\b\\f\\r\\t": "\\ud83d\\ude00 é 😀"}',
  ])("are those of JSON.parse for %j", (text) => {
    expect(toJson(root(text))).toEqual(JSON.parse(text));
  });

  test("keep a key called __proto__ as an ordinary key", () => {
    const value = toJson(root('{"__proto__": {"polluted": 1}, "constructor": 2}'));
    expect(Object.keys(value as object)).toEqual(["__proto__", "constructor"]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("of a key that occurs twice are those of the first, and both stay in the tree", () => {
    const node = root('{"a": 1, "a": 2}');
    expect(toJson(node)).toEqual({ a: 1 });
    expect(node.kind === "map" && node.entries.length).toBe(2);
  });

  test("may begin with a byte order mark", () => {
    const node = root('\ufeff{"a": 1}');
    expect(toJson(node)).toEqual({ a: 1 });
    expect(node.span).toEqual({ start: 1, end: 9 });
  });
});

describe("positions", () => {
  const text = '{\r\n  "größe": [10, {"😀": "x\\ny"}]\r\n}';

  test("of values are offsets into the text, quotes and brackets included", () => {
    const shown = (path: (string | number)[]) => {
      const { span } = nodeAt(root(text), path) as Node;
      return text.slice(span.start, span.end);
    };
    expect(shown([])).toBe(text);
    expect(shown(["größe"])).toBe('[10, {"😀": "x\\ny"}]');
    expect(shown(["größe", 0])).toBe("10");
    expect(shown(["größe", 1, "😀"])).toBe('"x\\ny"');
  });

  test("of keys hold the quotes", () => {
    const node = root(text);
    const entry = node.kind === "map" ? node.entries[0] : undefined;
    expect(entry?.keyStyle).toBe("double");
    expect(text.slice(entry?.keySpan.start, entry?.keySpan.end)).toBe('"größe"');
  });
});

describe("what is no JSON", () => {
  test.each([
    ['{"a": 1,}', "trailing comma", ","],
    ["[1, 2,]", "trailing comma", ","],
    ['{"a": 1 "b": 2}', 'expected `,` or `}`, found `"b"`', '"b"'],
    ['{"a" 1}', "expected `:` after a key, found `1`", "1"],
    ["{a: 1}", "expected a quoted key, found `a`", "a"],
    ["{'a': 1}", "a text in single quotes", "'"],
    ["[yes]", "expected a value, found `yes`", "yes"],
    ["[01]", "expected a value, found `01`", "01"],
    ["[.5]", "expected a value, found `.5`", ".5"],
    ["[1.]", "expected a value, found `1.`", "1."],
    ["[+1]", "expected a value, found `+1`", "+1"],
    ["[0x10]", "expected a value, found `0x10`", "0x10"],
    ["[NaN]", "expected a value, found `NaN`", "NaN"],
    ["[1e400]", "the number `1e400` is too large", "1e400"],
    ["[,]", "expected a value, found `,`", ","],
    ["[1] 2", "unexpected `2` after the end of the document", "2"],
    ["[1 /* one */]", "a comment stands here", "/*"],
    ["# pack\n{}", "a comment stands here", "#"],
    ['["a\tb"]', "control character U+0009 in a text", "\t"],
    ['["\\x"]', "`\\x` is not an escape", "\\x"],
    ['["\\u12g4"]', "`\\u` is not an escape", "\\u12g4"],
    ['["abc]', "the text is not closed", '"'],
    ['["ab\nc"]', "the text is not closed", '"'],
    ['{"a": [1, {"b": 2}', "the list opened here is not closed", "["],
    ["{", "the object opened here is not closed", "{"],
    ['{"a":', "the object opened here is not closed", "{"],
    ['{"a": 1,', "the object opened here is not closed", "{"],
    ["", "the file is empty", ""],
    ["\ufeff \n", "the file is empty", ""],
    ["[“a”]", "expected a value, found `“a”`", "“a”"],
    ["[😀]", "expected a value, found `😀`", "😀"],
  ])("%j is refused at the slip", (text, message, at) => {
    expect(refusal(text)).toMatchObject({ code: "PP102", severity: "error", message });
    expect(pointedAt(text)).toBe(at);
  });

  test("a wrong bracket is told with the place of the one that is open", () => {
    expect(refusal('{\n"a": [\n1 }').related).toEqual([
      { message: "the list is opened here", span: { start: 7, end: 8 }, path: [] },
    ]);
  });

  test("what is found is shown in part when it is long", () => {
    expect(refusal(`[${"x".repeat(1000)}]`).message).toBe(`expected a value, found \`${"x".repeat(20)}…\``);
  });

  test.each([
    ["True", "write `true`"],
    ["FALSE", "write `false`"],
    ["None", "write `null`"],
  ])("%s is told how JSON writes it", (word, help) => {
    expect(refusal(`[${word}]`).help).toBe(help);
  });
});

describe("limits", () => {
  test("64 levels are read and 65 are not", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect(root(nested(limits.depth)).kind).toBe("list");
    expect(refusal(nested(limits.depth + 1))).toMatchObject({
      code: "PP104",
      message: "document is more than 64 levels deep",
      span: { start: 64, end: 65 },
    });
  });

  test("a value inside 64 brackets is on level 65", () => {
    expect(refusal(`${"[".repeat(64)}1${"]".repeat(64)}`).code).toBe("PP104");
  });

  test("200,000 values are read and one more is not", () => {
    const list = (items: number) => `[${Array(items).fill("1").join(",")}]`;
    expect(root(list(limits.nodes - 1)).kind).toBe("list");
    expect(refusal(list(limits.nodes))).toMatchObject({
      code: "PP104",
      message: "document has more than 200000 values",
    });
  });
});
