import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyGraph, graph, node } from "../../../test/graph/hostile-graphs.ts";
import { toGraphJson } from "./json.ts";

test("the graph is data with the names of the pack", () => {
  const nodes = [node("a", { entry: true, maxVisits: 2, guarded: true, onMaxVisits: "b" }), node("b")];
  const edges = [
    { from: 0, to: 1, kind: "event" as const, labels: ["Go", "Run"] },
    { from: 0, to: 1, kind: "redirect" as const, labels: ["after 2 visits"] },
  ];
  const value = JSON.parse(toGraphJson(graph(nodes, edges))) as Record<string, unknown>;
  expect(value["pack"]).toEqual({ id: "sample", name: "Sample", version: "1.0.0" });
  expect(value["entry"]).toBe("a");
  expect(value["edges"]).toEqual([
    { from: "a", to: "b", kind: "event", events: ["Go", "Run"] },
    { from: "a", to: "b", kind: "redirect", events: [] },
  ]);
  expect((value["nodes"] as readonly object[])[0]).toMatchObject({
    max_visits: 2,
    on_max_visits: "b",
    guarded: true,
  });
});

test("any names come back as they were", () => {
  fc.assert(
    fc.property(anyGraph, (any) => {
      const value = JSON.parse(toGraphJson(any)) as { nodes: readonly { name: string }[] };
      expect(value.nodes.map(({ name }) => name)).toEqual(any.nodes.map(({ name }) => name));
    }),
  );
});
