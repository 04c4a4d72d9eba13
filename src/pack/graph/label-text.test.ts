import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyName } from "../../../test/graph/hostile-graphs.ts";
import { clip, columns, oneLine, textWidth, wrap } from "./label-text.ts";

test("control characters, line ends and half pairs become a dot", () => {
  expect(oneLine("a\nb\u001b\ud800c\u202e")).toBe("a·b··c·");
  expect(oneLine("naïve 😀 名")).toBe("naïve 😀 名");
});

test("wide characters take two columns", () => {
  expect(columns("ab")).toBe(2);
  expect(columns("名前")).toBe(4);
  expect(columns("😀")).toBe(2);
  expect(columns("e\u0301")).toBe(1);
});

test("a text that is cut ends in an ellipsis and fits", () => {
  expect(clip("abcdef", 6)).toBe("abcdef");
  expect(clip("abcdefg", 6)).toBe("abcde…");
  expect(clip("名前名前", 5)).toBe("名前…");
});

test("long names break at their joints", () => {
  expect(wrap("collect_customer_feedback", 17, 3)).toEqual(["collect_customer_", "feedback"]);
  expect(wrap("draftAnAnswer", 8, 3)).toEqual(["draftAn", "Answer"]);
  expect(wrap("abcdefghij", 4, 3)).toEqual(["abcd", "efgh", "ij"]);
  expect(wrap("abcdefghijkl", 4, 2)).toEqual(["abcd", "efg…"]);
});

test("no line of any name is wider than asked", () => {
  fc.assert(
    fc.property(anyName, fc.integer({ min: 4, max: 30 }), (name, max) => {
      const lines = wrap(oneLine(name), max, 3);
      expect(lines.length).toBeLessThanOrEqual(3);
      for (const line of lines) expect(columns(line)).toBeLessThanOrEqual(max);
    }),
  );
});

test("wider letters make a wider text", () => {
  expect(textWidth("mmm", 14)).toBeGreaterThan(textWidth("iii", 14));
  expect(textWidth("名", 14)).toBeGreaterThan(textWidth("a", 14));
});
