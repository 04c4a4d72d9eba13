import { expect, test } from "vitest";
import { curveThrough, number, swing } from "./curve.ts";

test("a straight line stays straight", () => {
  expect(
    curveThrough([
      { x: 5, y: 0 },
      { x: 5, y: 30 },
    ]),
  ).toBe("M5 0 C5 16.5 5 13.5 5 30");
});

test("a curve never leaves the corridor of its points", () => {
  const path = curveThrough([
    { x: 0, y: 0 },
    { x: 50, y: 40 },
    { x: 60, y: 80 },
    { x: 60, y: 120 },
  ]);
  const xs = [...path.matchAll(/(-?[\d.]+) -?[\d.]+/g)].map(([, x]) => Number(x));
  expect(Math.min(...xs)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...xs)).toBeLessThanOrEqual(60);
});

test("the middle of a swing is in the middle, its ends at the ends", () => {
  const [from, to] = [
    { x: 0, y: 0 },
    { x: 100, y: 60 },
  ];
  expect(swing(from, to, 0)).toEqual(from);
  expect(swing(from, to, 0.5)).toEqual({ x: 50, y: 30 });
  expect(swing(from, to, 1)).toEqual(to);
});

test("numbers have at most one decimal and no negative zero", () => {
  expect(number(1.26)).toBe("1.3");
  expect(number(-0.01)).toBe("0");
});
