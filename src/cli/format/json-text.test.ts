// What the JSON printer changes and what it leaves alone.

import { expect, test } from "vitest";
import { jsonText } from "./json-text.ts";

test("ordinary values are printed as JSON.stringify prints them", () => {
  const value = { a: [1, null, true], "b c": 'quote " and \\ and \n and 😀 日本' };
  expect(jsonText(value)).toBe(JSON.stringify(value));
  expect(jsonText(value, 2)).toBe(JSON.stringify(value, undefined, 2));
});

test("half a surrogate pair becomes the replacement character, in values and keys", () => {
  expect(jsonText({ "k\udc00": "a\ud800b" })).toBe('{"k\\ufffd":"a\\ufffdb"}');
});

test("text that looks like the escape of half a pair is left alone", () => {
  expect(JSON.parse(jsonText("\\ud800 \\\\udc00"))).toBe("\\ud800 \\\\udc00");
});

test("line separators, C1 controls and bidirectional marks are escaped and come back", () => {
  const text = "\u007f\u0085\u009b\u2028\u2029\u202e\u2066\u200f\u061c";
  expect(jsonText(text)).toMatch(/^"(?:\\u[0-9a-f]{4}){9}"$/);
  expect(JSON.parse(jsonText(text))).toBe(text);
});
