// Offsets to lines and columns.

import { describe, expect, test } from "vitest";
import { LineIndex } from "./line-index.ts";

describe("positions", () => {
  test("begin at 1:1 and count lines by line feeds", () => {
    const lines = new LineIndex("ab\ncd\r\n\nx");
    const at = [0, 2, 3, 5, 7, 8, 9].map((offset) => lines.position(offset));
    expect(at.map(({ line, column }) => `${line}:${column}`)).toEqual([
      "1:1",
      "1:3",
      "2:1",
      "2:3",
      "3:1",
      "4:1",
      "4:2",
    ]);
  });

  test("count an emoji as one column", () => {
    const lines = new LineIndex("a😀b\n😀😀c");
    expect(lines.position(3)).toEqual({ line: 1, column: 3 });
    expect(lines.position(9)).toEqual({ line: 2, column: 3 });
  });

  test("outside the text are its ends", () => {
    const lines = new LineIndex("ab\nc");
    expect(lines.position(-1)).toEqual({ line: 1, column: 1 });
    expect(lines.position(99)).toEqual({ line: 2, column: 2 });
  });

  test("do not count a byte order mark", () => {
    const lines = new LineIndex("\ufeffab\nc");
    expect([0, 1, 2, 4].map((offset) => lines.position(offset).column)).toEqual([1, 1, 2, 1]);
    expect(lines.lineText(1)).toBe("ab");
  });

  test("are found quickly in one long line", () => {
    const lines = new LineIndex("😀".repeat(1_000_000));
    let total = 0;
    for (let offset = 0; offset < 2_000_000; offset += 20) total += lines.position(offset).column;
    expect(total).toBe(50_000_000_000 - 500_000 + 100_000);
  });
});

test("lines are given without their ends", () => {
  const lines = new LineIndex("ab\r\ncd\n");
  expect([1, 2, 3, 4].map((line) => lines.lineText(line))).toEqual(["ab", "cd", "", ""]);
  expect(lines.lineCount).toBe(3);
  expect(lines.lineStart(2)).toBe(4);
});
