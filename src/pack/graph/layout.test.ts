import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyGraph, graph, node } from "../../../test/graph/hostile-graphs.ts";
import type { Box } from "./boxes.ts";
import { drawingOf } from "./layout.ts";
import type { GraphModel } from "./model.ts";

const event = (from: number, to: number, label: string) => ({
  from,
  to,
  kind: "event" as const,
  labels: [label],
});

const loop: GraphModel = graph(
  [
    node("plan", { entry: true }),
    node("implement", { maxVisits: 6, agents: ["coder"] }),
    node("test"),
    node("review"),
    node("done", { terminal: true }),
  ],
  [
    event(0, 1, "PlanReady"),
    event(1, 2, "CodeReady"),
    { from: 1, to: 3, kind: "redirect", labels: ["after 6 visits"] },
    event(2, 1, "TestsFailed"),
    event(2, 2, "Flaky"),
    event(2, 3, "TestsPassed"),
    event(3, 4, "Approved"),
    event(3, 1, "ChangesNeeded"),
  ],
);

const overlap = (a: Box, b: Box) =>
  Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < (a.height + b.height) / 2;

test("the same graph is laid out alike a hundred times", () => {
  const first = JSON.stringify(drawingOf(loop));
  for (let nth = 0; nth < 100; nth++) expect(JSON.stringify(drawingOf(loop))).toBe(first);
});

test("boxes and labels never lie on each other and stay inside the picture", () => {
  fc.assert(
    fc.property(anyGraph, (any) => {
      // Two loops at one node share a place; a pack with a redirect to its own state is reported elsewhere.
      const edges = any.edges.filter((edge) => edge.kind === "event" || edge.from !== edge.to);
      const keys = new Set<string>();
      const single = edges.filter(
        ({ from, to }) => from !== to || (!keys.has(`${from}`) && keys.add(`${from}`)),
      );
      const { width, height, nodes, edges: labels, agents } = drawingOf({ ...any, edges: single });
      const boxes: readonly Box[] = [...nodes, ...labels, ...agents];
      for (const [index, box] of boxes.entries()) {
        expect(box.x - box.width / 2).toBeGreaterThanOrEqual(0);
        expect(box.x + box.width / 2).toBeLessThanOrEqual(width);
        expect(box.y + box.height / 2).toBeLessThanOrEqual(height);
        for (const other of boxes.slice(index + 1)) expect(overlap(box, other)).toBe(false);
      }
    }),
    { numRuns: 60 },
  );
});

test("the entry is above what follows it, and arrows of a loop point back up", () => {
  const { nodes, edges } = drawingOf(loop);
  const rows = nodes.map((placed) => placed.y);
  expect([...rows].sort((a, b) => a - b)).toEqual(rows);
  const back = edges.find(({ lines }) => lines.includes("ChangesNeeded"));
  expect(back?.points[0]?.y).toBeGreaterThan(back?.points.at(-1)?.y as number);
});

test("lines begin and end on the border of their boxes, apart from each other", () => {
  const { nodes, edges } = drawingOf(loop);
  const ends = new Set<string>();
  for (const { edge, points } of edges) {
    if (edge.from === edge.to) continue;
    for (const [at, index] of [
      [points[0], edge.from],
      [points.at(-1), edge.to],
    ] as const) {
      const box = nodes[index] as Box;
      expect(Math.abs((at?.y as number) - box.y)).toBeCloseTo(box.height / 2);
      expect(Math.abs((at?.x as number) - box.x)).toBeLessThanOrEqual(box.width / 2);
      ends.add(`${at?.x} ${at?.y}`);
    }
  }
  expect(ends.size).toBe(14);
});

test("a line goes steadily up or down", () => {
  fc.assert(
    fc.property(anyGraph, (any) => {
      for (const { points } of drawingOf(any).edges) {
        const down = (points[0]?.y ?? 0) < (points.at(-1)?.y ?? 0);
        const rows = points.map(({ y }) => (down ? y : -y));
        for (let at = 1; at < rows.length; at++) expect(rows[at]).toBeGreaterThan(rows[at - 1] as number);
      }
    }),
    { numRuns: 60 },
  );
});

test("a loop keeps its neighbour away", () => {
  const nodes = [node("a", { entry: true }), node("b"), node("c")];
  const edges = [
    event(0, 1, "B"),
    event(0, 2, "C"),
    event(1, 1, "TryTheWholeThingAgain"),
    event(2, 2, "TryAgain"),
  ];
  const { nodes: placed, edges: labels } = drawingOf(graph(nodes, edges));
  for (const label of labels) for (const box of placed) expect(overlap(label, box)).toBe(false);
});

test("parallel edges around a loop have their places", () => {
  const nodes = ["a", "b", "c", "d", "e", "f"].map((name, at) => node(name, { entry: at === 0 }));
  const pairs = [
    [5, 3],
    [1, 4],
    [5, 4],
    [4, 5],
    [0, 5],
    [3, 1],
    [0, 2],
    [5, 4],
  ] as const;
  const { edges } = drawingOf(
    graph(
      nodes,
      pairs.map(([from, to]) => event(from, to, "")),
    ),
  );
  for (const { points } of edges) for (const { x, y } of points) expect(Number.isFinite(x + y)).toBe(true);
});
