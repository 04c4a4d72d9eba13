// The order a reader meets the nodes in: breadth first from where runs begin, then what no run reaches.

import type { GraphModel, GraphNode } from "./model.ts";

export interface ReadingOrder {
  /** Indexes of nodes; those up to `reached` can be reached, the rest are in file order. */
  readonly order: readonly number[];
  readonly reached: number;
  /** Place of each node in `order`. */
  readonly placeOf: readonly number[];
}

const isStart = (node: GraphNode): boolean => node.entry || node.agents.length > 0;

export function readingOrder({ nodes, edges }: GraphModel): ReadingOrder {
  const targets: number[][] = nodes.map(() => []);
  for (const edge of edges) targets[edge.from]?.push(edge.to);
  const indexes = nodes.map((_, index) => index);
  const order = [
    ...indexes.filter((index) => nodes[index]?.entry),
    ...indexes.filter((index) => nodes[index]?.entry === false && isStart(nodes[index])),
  ];
  // Nothing says where a pack of several prompts begins, so each of them is a beginning.
  if (order.length === 0) order.push(...indexes);
  const seen = new Set(order);
  for (let at = 0; at < order.length; at++) {
    for (const target of targets[order[at] as number] as readonly number[]) {
      if (seen.has(target)) continue;
      seen.add(target);
      order.push(target);
    }
  }
  const reached = order.length;
  order.push(...indexes.filter((index) => !seen.has(index)));
  const placeOf = nodes.map(() => 0);
  for (const [place, index] of order.entries()) placeOf[index] = place;
  return { order, reached, placeOf };
}
