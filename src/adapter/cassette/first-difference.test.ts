import { expect, test } from "vitest";
import { firstDifference } from "./first-difference.ts";

test("names the deepest place of the first difference, and what was there before and now", () => {
  const before = { system: "s", messages: [{ text: "a" }, { text: "b" }] };
  const now = { system: "s", messages: [{ text: "a" }, { text: "c" }] };
  expect(firstDifference(before, now)).toEqual({ path: ["messages", 1, "text"], before: "`b`", now: "`c`" });
});

test("names what is missing on one side", () => {
  expect(firstDifference([1], [1, 2])).toEqual({ path: [1], before: "nothing", now: "`2`" });
  expect(firstDifference({ a: 1, b: {} }, { a: 1 })).toEqual({ path: ["b"], before: "`{}`", now: "nothing" });
});

test("keeps keys of objects apart from what objects have by themselves", () => {
  const own = JSON.parse('{"__proto__":1,"toString":2}') as never;
  expect(firstDifference(own, {})).toMatchObject({ path: ["__proto__"], now: "nothing" });
});

test("shows long texts around where they part, never half a character", () => {
  const common = "😀".repeat(50);
  const { before, now } = firstDifference(`${common}x${common}`, `${common}y${common}`);
  expect(before).toBe(`\`…${"😀".repeat(6)}x${"😀".repeat(17)}…\``);
  expect(now.isWellFormed()).toBe(true);
  expect(firstDifference(`x${common}`, `y${common}`).now.isWellFormed()).toBe(true);
});
