import { expect, test } from "vitest";
import { withKeyGone, withKeySet } from "./sparse.ts";

test("keys are set and removed in copies, and stay in the order of their numbers", () => {
  const one = withKeySet<string>({}, 900, "a");
  const two = withKeySet(one, 7, "b");
  const three = withKeySet(two, 900, "c");
  expect(Object.entries(three)).toEqual([
    ["7", "b"],
    ["900", "c"],
  ]);
  expect(withKeyGone(three, 7)).toEqual({ 900: "c" });
  expect([one, two]).toEqual([{ 900: "a" }, { 7: "b", 900: "a" }]);
  expect(JSON.stringify(withKeyGone(one, 900))).toBe("{}");
});
