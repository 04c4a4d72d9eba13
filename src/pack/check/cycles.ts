// Cycles to show in a finding: one for each group of nodes that lead to each other.

import { components } from "../../base/components.ts";

/** For each component with a cycle the shortest through its first node; `rows[n]` are successors of `n`. */
export function shortestCycles(rows: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const offsets = [0];
  for (const row of rows) offsets.push((offsets.at(-1) as number) + row.length);
  const { of } = components({ offsets, targets: rows.flat(), count: rows.length });
  const seen = new Set<number>();
  const cycles: (readonly number[])[] = [];
  for (const node of rows.keys()) {
    const component = of[node] as number;
    if (seen.has(component)) continue;
    seen.add(component);
    const cycle = cycleFrom(node, rows, (other) => of[other] === component);
    if (cycle !== undefined) cycles.push(cycle);
  }
  return cycles;
}

function cycleFrom(start: number, rows: readonly (readonly number[])[], inside: (node: number) => boolean) {
  const parents = new Map<number, number>();
  const queue = [start];
  for (const node of queue) {
    for (const next of rows[node] as readonly number[]) {
      if (next === start) return pathTo(node, start, parents);
      if (!inside(next) || parents.has(next)) continue;
      parents.set(next, node);
      queue.push(next);
    }
  }
  return undefined;
}

function pathTo(end: number, start: number, parents: ReadonlyMap<number, number>): readonly number[] {
  const path = [end];
  while (path.at(-1) !== start) path.push(parents.get(path.at(-1) as number) as number);
  return path.toReversed();
}
