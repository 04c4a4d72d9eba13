// Where everything is in a drawing. The same graph always gives the same drawing: dagre is deterministic and
// gets the nodes in reading order, which also decides which arrows of a loop point back.

import { Graph, layout } from "@dagrejs/dagre";
import { type AgentBox, type Box, type LabelBox, labelBox, type NodeBox, nodeBox, sizes } from "./boxes.ts";
import type { Point } from "./curve.ts";
import type { GraphModel } from "./model.ts";
import { readingOrder } from "./order.ts";
import { type Line, routes } from "./route.ts";

export type PlacedNode = NodeBox & Box;
/** The box is that of the label. `points` is empty when the edge leads back to its own node. */
export type PlacedEdge = LabelBox & Box & { readonly points: readonly Point[] };
export type PlacedAgent = AgentBox & Box & { readonly arrow: readonly [Point, Point] };

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly agents: readonly PlacedAgent[];
  /** The dot before the entry and its arrow. */
  readonly start: { readonly dot: Point; readonly points: readonly Point[] } | undefined;
}

export function drawingOf(graph: GraphModel): Drawing {
  const boxes = graph.nodes.map(nodeBox);
  const labels = graph.edges.map(labelBox);
  const laid = runDagre(graph, boxes, labels);
  const nodes = boxes.map((box, index): PlacedNode => ({ ...box, ...laid.nodeAt(`n${index}`) }));
  const placedLabels = labels.map((label, index) => {
    const { from, to } = label.edge;
    const at = from === to ? besideLoop(nodes[from] as PlacedNode, label) : laid.labelAt(`e${index}`);
    return { ...label, ...at };
  });
  const lines: Line[] = placedLabels.map((label, index) => {
    return { from: label.edge.from, to: label.edge.to, via: laid.via(`e${index}`), label };
  });
  const entry = graph.nodes.findIndex((node) => node.entry);
  const dots: Box[] = entry === -1 ? [] : [{ ...laid.nodeAt(START), width: sizes.dot, height: sizes.dot }];
  if (entry !== -1) lines.push({ from: nodes.length, to: entry, via: laid.via(START), label: undefined });
  const routed = routes([...nodes, ...dots], lines);
  const points = (index: number) => routed[index] as readonly Point[];
  return {
    width: laid.width,
    height: laid.height,
    nodes,
    edges: placedLabels.map((label, index): PlacedEdge => ({ ...label, points: points(index) })),
    agents: nodes.flatMap(agentsOf),
    start: dots[0] === undefined ? undefined : { dot: dots[0], points: points(labels.length) },
  };
}

/** The label of a loop stands right of it. The gap that the layout keeps is as wide as the loop. */
function besideLoop(node: Box, label: LabelBox): Point {
  return { x: node.x + node.width / 2 + sizes.loop + label.width / 2, y: node.y };
}

function agentsOf(node: PlacedNode): readonly PlacedAgent[] {
  const left = node.x - node.width / 2;
  return node.agents.map((agent, nth) => {
    const y = node.y + (nth - (node.agents.length - 1) / 2) * sizes.agentStep;
    const end = left - sizes.lead;
    const arrow = [
      { x: end, y },
      { x: left, y },
    ] as const;
    return { ...agent, x: end - agent.width / 2, y, arrow };
  });
}

interface Laid {
  readonly width: number;
  readonly height: number;
  nodeAt(id: string): Point;
  labelAt(id: string): Point;
  /** The bends of an edge, without its ends on the boxes. */
  via(id: string): readonly Point[];
}

/** The part of dagre used here. Its published types do not resolve under our settings, so we state them. */
interface DagreGraph {
  setGraph(label: object): unknown;
  graph(): { readonly width: number; readonly height: number };
  setNode(name: string, label: object): unknown;
  setEdge(edge: { v: string; w: string; name: string }, label: object): unknown;
  node(name: string): Point;
  edges(): readonly { readonly name?: string }[];
  edge(edge: object): Point & { readonly points: readonly Point[] };
}

const START = "start";

function runDagre(graph: GraphModel, boxes: readonly NodeBox[], labels: readonly LabelBox[]): Laid {
  const dagre: DagreGraph = new Graph({ multigraph: true });
  dagre.setGraph({ rankdir: "TB", nodesep: 36, edgesep: 24, ranksep: 60, marginx: 28, marginy: 24 });
  const entry = graph.nodes.findIndex((node) => node.entry);
  if (entry !== -1) dagre.setNode(START, { width: sizes.dot, height: sizes.dot });
  for (const index of readingOrder(graph).order) {
    const { width, height, lead } = boxes[index] as NodeBox;
    // Space on both sides keeps the box in the middle, where lines aim at.
    dagre.setNode(`n${index}`, { width: width + 2 * lead, height });
  }
  if (entry !== -1)
    dagre.setEdge({ v: START, w: `n${entry}`, name: START }, { width: 0, height: 0, weight: 4 });
  for (const [index, { edge, width, height }] of labels.entries()) {
    const weight = edge.kind === "redirect" ? 1 : 2;
    const ends = { v: `n${edge.from}`, w: `n${edge.to}`, name: `e${index}` };
    dagre.setEdge(ends, { width, height, labelpos: "c", weight });
  }
  layout(dagre, { customOrder: orderedOnce });
  const edgeByName = new Map(dagre.edges().map((edge) => [edge.name, dagre.edge(edge)]));
  const { width, height } = dagre.graph();
  const point = ({ x, y }: Point): Point => ({ x, y });
  return {
    width: Math.ceil(width),
    height: Math.ceil(height),
    nodeAt: (id) => point(dagre.node(id)),
    labelAt: (id) => point(edgeByName.get(id) as Point),
    via: (id) => (edgeByName.get(id)?.points ?? []).slice(1, -1).map(point),
  };
}

interface OrderedGraph {
  nodes(): readonly string[];
  node(name: string): { readonly rank?: number; order: number };
}

/**
 * dagre 3.1 now and then gives two nodes of a row the same place when edges run in parallel, and then fails
 * on the one it lost. Numbering each row anew changes nothing in a row that is in order.
 */
function orderedOnce(graph: OrderedGraph, order: (graph: OrderedGraph) => void): void {
  order(graph);
  const rows = new Map<number, { order: number }[]>();
  for (const name of graph.nodes()) {
    const node = graph.node(name);
    if (node.rank === undefined) continue;
    const row = rows.get(node.rank);
    if (row === undefined) rows.set(node.rank, [node]);
    else row.push(node);
  }
  for (const row of rows.values()) {
    row.sort((a, b) => a.order - b.order);
    for (const [place, node] of row.entries()) node.order = place;
  }
}
