import { expect, test } from "vitest";
import type { Box } from "./boxes.ts";
import { type Line, routes } from "./route.ts";

const box = (x: number, y: number, width = 100, height = 40): Box => ({ x, y, width, height });

/** Three boxes below each other, with rows of labels between them at 50 and 150. */
const boxes = [box(100, 0), box(100, 100), box(100, 200)];

const around = (from: number, to: number, x: number, more: Partial<Line> = {}): Line => {
  const via = [50, 100, 150].map((y) => ({ x, y }));
  return { from, to, via: from < to ? via : via.toReversed(), label: undefined, ...more };
};

test("a line past a row of boxes is vertical beside it, whichever way it goes", () => {
  const [down] = routes(boxes, [around(0, 2, 300)]);
  expect(down?.slice(2, 4)).toEqual([
    { x: 300, y: 80 },
    { x: 300, y: 120 },
  ]);
  const [up] = routes(boxes, [around(2, 0, 300)]);
  expect(up?.slice(2, 4)).toEqual([
    { x: 300, y: 120 },
    { x: 300, y: 80 },
  ]);
});

test("a bend that only leads past labels is left out where the line keeps clear of them", () => {
  const far = { from: 0, to: 1, via: [{ x: 900, y: 50 }], label: box(900, 50, 40, 20) };
  const [way] = routes(boxes, [around(0, 2, 300), far]);
  expect(way?.map(({ y }) => y)).toEqual([20, 80, 120, 150, 180]);
});

test("the bend stays where the line would cross another's label", () => {
  const near = { from: 0, to: 1, via: [{ x: 200, y: 50 }], label: box(200, 50, 60, 20) };
  const [way] = routes(boxes, [around(0, 2, 300), near]);
  expect(way?.map(({ y }) => y)).toEqual([20, 50, 80, 120, 150, 180]);
});

test("lines side by side keep their bends together, so that they do not cross", () => {
  const near = { from: 0, to: 1, via: [{ x: 190, y: 50 }], label: box(190, 50, 40, 20) };
  const [alone] = routes(boxes, [around(0, 2, 1500), near]);
  expect(alone?.map(({ y }) => y)).not.toContain(50);
  const [inner, outer] = routes(boxes, [around(0, 2, 260), around(0, 2, 1500), near]);
  expect(inner?.map(({ y }) => y)).toContain(50);
  expect(outer?.map(({ y }) => y)).toContain(50);
});

test("a line passes through the middle of its own label", () => {
  const label = box(300, 50, 60, 20);
  const [way] = routes(boxes, [{ from: 0, to: 1, via: [{ x: 300, y: 50 }], label }]);
  expect(way?.[1]).toEqual({ x: 300, y: 50 });
});

test("a line to its own box has no way", () => {
  expect(routes(boxes, [{ from: 1, to: 1, via: [], label: box(200, 100) }])).toEqual([[]]);
});
