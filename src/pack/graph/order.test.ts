import { expect, test } from "vitest";
import { graph, node } from "../../../test/graph/hostile-graphs.ts";
import { readingOrder } from "./order.ts";

const go = (from: number, to: number) => ({ from, to, kind: "event" as const, labels: ["Go"] });

test("nodes are read breadth first from the entry, and those nothing reaches come last", () => {
  const nodes = [node("lost"), node("c"), node("b"), node("a", { entry: true })];
  const { order, reached } = readingOrder(graph(nodes, [go(3, 2), go(2, 1), go(0, 1)]));
  expect(order).toEqual([3, 2, 1, 0]);
  expect(reached).toBe(3);
});

test("the entry comes before the states agents begin at, also when it is later in the file", () => {
  const nodes = [node("a", { agents: ["x"] }), node("b", { entry: true })];
  expect(readingOrder(graph(nodes, [])).order).toEqual([1, 0]);
});

test("prompts without an entry are all beginnings", () => {
  expect(readingOrder(graph([node("a"), node("b")], []))).toEqual({
    order: [0, 1],
    reached: 2,
    placeOf: [0, 1],
  });
});
