// The graph of a program, laid out, and the same as lines of a table.

import type { Program } from "../../../src/core/program.ts";
import { drawingOf } from "../../../src/pack/graph/layout.ts";
import { type GraphModel, graphOf } from "../../../src/pack/graph/model.ts";
import { sentenceOf } from "../../../src/pack/graph/node-facts.ts";
import type { PackShape, StateLine } from "./journal-shapes.ts";

export function shapeOf(program: Program): PackShape {
  const graph = graphOf(program);
  return { drawing: drawingOf(graph), states: graph.nodes.map((_, index) => lineOf(graph, index)) };
}

function lineOf(graph: GraphModel, index: number): StateLine {
  const node = graph.nodes[index] as GraphModel["nodes"][number];
  const leadsTo = graph.edges
    .filter(({ from }) => from === index)
    .flatMap(({ to, kind, labels }) =>
      labels.map((label) => ({ label, to: graph.nodes[to]?.name ?? "", redirect: kind === "redirect" })),
    );
  const facts = sentenceOf(node).slice(node.name.length).replace(/^, /, "");
  return { name: node.name, facts, limit: node.maxVisits, leadsTo };
}
