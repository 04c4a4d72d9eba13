import { expect, test } from "vitest";
import { placeEnds } from "./ports.ts";

const side = { left: 0, right: 100 };

test("a single end goes where it wishes, as far as the side reaches", () => {
  expect(placeEnds(side, [40])).toEqual([40]);
  expect(placeEnds(side, [140])).toEqual([100]);
});

test("ends with one wish are spread, and keep the order of their wishes", () => {
  expect(placeEnds(side, [50, 50])).toEqual([50, 68]);
  expect(placeEnds(side, [80, 10])).toEqual([80, 10]);
  expect(placeEnds(side, [200, 150, 300])).toEqual([82, 64, 100]);
});

test("more ends than fit share the side evenly", () => {
  const placed = placeEnds(
    side,
    Array.from({ length: 11 }, () => 50),
  );
  expect(Math.min(...placed)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...placed)).toBeLessThanOrEqual(100);
  expect(new Set(placed.map(Math.round)).size).toBe(11);
});
