// Whether a graph can be laid out in reasonable time. The layout puts a bend into every row an edge passes,
// so its cost grows with the length of edges in rows, and it recurses once for each row.

import type { GraphModel } from "./model.ts";
import { readingOrder } from "./order.ts";

/** About ten seconds of work. */
const BENDS_MAX = 10_000;
const ROWS_MAX = 500;

export function isDrawable(graph: GraphModel): boolean {
  const rows = rowsOf(graph);
  let bends = 0;
  for (const { from, to } of graph.edges) bends += Math.abs((rows[from] as number) - (rows[to] as number));
  return bends <= BENDS_MAX && Math.max(0, ...rows) <= ROWS_MAX;
}

/** The row of each node when every edge that does not close a loop leads at least one row down. */
function rowsOf(graph: GraphModel): readonly number[] {
  const { finished, targets } = depthFirst(graph);
  const order = finished.toReversed();
  const place = graph.nodes.map(() => 0);
  for (const [at, node] of order.entries()) place[node] = at;
  const rows = graph.nodes.map(() => 0);
  for (const node of order) {
    for (const target of targets[node] as readonly number[]) {
      const forward = (place[target] as number) > (place[node] as number);
      if (forward) rows[target] = Math.max(rows[target] as number, (rows[node] as number) + 1);
    }
  }
  return rows;
}

/** Nodes in the order a depth-first walk leaves them, with a stack of our own. */
function depthFirst(graph: GraphModel) {
  const targets: number[][] = graph.nodes.map(() => []);
  for (const { from, to } of graph.edges) targets[from]?.push(to);
  const finished: number[] = [];
  const next = graph.nodes.map(() => 0);
  const seen = new Set<number>();
  for (const root of readingOrder(graph).order) {
    if (seen.has(root)) continue;
    seen.add(root);
    const path = [root];
    while (path.length > 0) {
      const node = path.at(-1) as number;
      const target = targets[node]?.[next[node] as number];
      next[node] = (next[node] as number) + 1;
      if (target === undefined) {
        finished.push(node);
        path.pop();
      } else if (!seen.has(target)) {
        seen.add(target);
        path.push(target);
      }
    }
  }
  return { finished, targets };
}
