import { describe, expect, test } from "vitest";
import type { JsonObject } from "../base/json.ts";
import { judgesText } from "./check-names.ts";
import { demandsContent, judgeText, shortened } from "./text-check.ts";

type Case = readonly [type: string, params: JsonObject, good: readonly string[], bad: readonly string[]];

const cases: readonly Case[] = [
  ["contains", { patterns: ["Sum", "total"] }, ["the SUM and the Total"], ["the sum", ""]],
  ["content_includes", { patterns: ["a"] }, ["A"], ["b"]],
  ["contains_any", { patterns: ["yes", "no"] }, ["No."], ["maybe"]],
  ["content_excludes", { patterns: ["ass"] }, ["fine"], ["class"]],
  ["banned_words", { words: ["ass", "c++"] }, ["class", "c+"], ["an ASS.", "use C++, please"]],
  ["banned_words", { words: ["été"] }, ["étés"], ["l'été"]],
  ["banned_words", { words: ["ass"], match_mode: "substring" }, ["fine"], ["class"]],
  ["regex_match", { pattern: "^\\d+$" }, ["12"], ["12a"]],
  ["regex", { pattern: "(?i)secret", expect_match: false }, ["open"], ["SECRET"]],
  ["max_length", { max_characters: 3 }, ["abc", "😀😀😀"], ["abcd"]],
  ["length", { max_tokens: 1 }, ["abcd"], ["abcde"]],
  ["min_length", { min: 2 }, ["ab"], ["a"]],
  ["max_sentences", { max: 2 }, ["One. Two!", "3.14 is pi"], ["One. Two. Three."]],
  ["required_fields", { fields: ["name", "age"] }, ["Name: x, age: 3"], ["name only"]],
  ["json_valid", {}, ["[1]", ' {"a":1} '], ["```json\n[1]\n```", "so: [1]"]],
  ["valid_json", { allow_wrapped: true }, ["```json\n[1]\n```", "[1]"], ["so: [1]"]],
  ["json_valid", { extract_json: true }, ['it is {"a":1}, I think'], ["none"]],
  ["json_schema", { schema: { type: "object", required: ["a"] } }, ['{"a":1}'], ["{}", "no"]],
  ["pii_detection", {}, ["order 4111 1111 1111 1112", "on 2024-01-02"], ["mail ann@example.org"]],
  ["pii_leakage", {}, ["call me"], ["card 4111 1111 1111 1111", "call +44 20 7946 0958", "078-05-1120"]],
  ["pii_leakage", {}, ["GB82 WEST 1234 5698 7654 33"], ["GB82 WEST 1234 5698 7654 32"]],
];

describe.each(cases)("%s %j", (type, params, good, bad) => {
  test.each(good)("lets %j pass", (text) => {
    expect(judgeText(text, type, params)).toBe("good");
  });
  test.each(bad)("stops %j", (text) => {
    expect(judgeText(text, type, params)).toBe("bad");
  });
});

test.each([
  ["toxicity", {}],
  ["regex", { pattern: "(a+)+$" }],
  ["regex", { pattern: "(" }],
  ["max_length", { max: "9" }],
  ["banned_words", { words: "one" }],
  ["json_schema", { schema: 4 }],
] as const)("what %s with %j should say cannot be told", (type, params) => {
  expect(judgeText("text", type, params)).toBe("unknown");
});

test("only types that look at a text alone can be judged", () => {
  expect(["banned_words", "pii_detection", "llm_judge", "academic_integrity"].map(judgesText)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("only a length limit shortens, by whole characters", () => {
  expect(shortened("a😀b", "length", { max: 2 })).toBe("a😀");
  expect(shortened("abc", "banned_words", { words: ["a"] })).toBeUndefined();
});

test("what must be there is due at the end, what must not be there is never allowed", () => {
  expect(demandsContent("json_schema", {})).toBe(true);
  expect(demandsContent("regex", { expect_match: false })).toBe(false);
  expect(demandsContent("banned_words", {})).toBe(false);
});
