// The most a run can collect on its way through an exploration, for any weight per state.

import type { Components } from "../../base/components.ts";
import type { Exploration } from "./explore.ts";

/** Over 20 million table entries an upper bound has to do. */
export const TABLE_ENTRIES_MAX = 20_000_000;

export interface Graph {
  readonly exploration: Exploration;
  readonly components: Components;
  readonly members: Members;
  /** Components that hold a cycle. */
  readonly cyclic: Uint8Array;
}

/** `nodes[offsets[c] … offsets[c + 1]]` are the nodes of component `c`. */
export interface Members {
  readonly nodes: Int32Array;
  readonly offsets: Int32Array;
}

/** The largest sum of weights over all runs; `Infinity` when a cycle adds to it. */
export function longest(graph: Graph, weightOf: (state: number) => number): number {
  const { exploration } = graph;
  if (exploration.count === 0) return 0;
  return bestFrom(graph, weightOf)[0] as number;
}

/** For every configuration, the most that can still be collected from it on, itself included. */
function bestFrom(graph: Graph, weightOf: (state: number) => number): Float64Array {
  const { exploration, components, members, cyclic } = graph;
  const { flow, stateOf, offsets, targets } = exploration;
  const weights = Float64Array.from(flow.states, (_, state) => weightOf(state));
  const best = new Float64Array(exploration.count);
  for (let c = 0; c < components.count; c++) {
    const from = members.offsets[c] as number;
    const to = members.offsets[c + 1] as number;
    let collected = 0;
    let ahead = 0;
    for (let m = from; m < to; m++) {
      const node = members.nodes[m] as number;
      collected += weights[stateOf[node] as number] as number;
      const end = offsets[node + 1] as number;
      for (let e = offsets[node] as number; e < end; e++) {
        // Nothing is known yet of this component itself: its own edges read 0.
        const there = best[targets[e] as number] as number;
        if (there > ahead) ahead = there;
      }
    }
    // A cycle either adds on every lap, without end, or weighs nothing.
    const value = cyclic[c] === 1 && collected > 0 ? Infinity : collected + ahead;
    for (let m = from; m < to; m++) best[members.nodes[m] as number] = value;
  }
  return best;
}

/** As `longest`, for runs of at most `visits` visits: f_k(c) = w(c) + max f_{k-1}(c'). */
export function longestWithin(graph: Graph, visits: number, weightOf: (state: number) => number): number {
  const { flow, stateOf, offsets, targets, count } = graph.exploration;
  if (count === 0 || visits < 1) return 0;
  const weights = Float64Array.from(flow.states, (_, state) => weightOf(state));
  let before = new Float64Array(count);
  let now = new Float64Array(count);
  for (let k = 1; k <= visits; k++) {
    for (let node = 0; node < count; node++) {
      let ahead = 0;
      const end = offsets[node + 1] as number;
      for (let e = offsets[node] as number; e < end; e++) {
        const there = before[targets[e] as number] as number;
        if (there > ahead) ahead = there;
      }
      now[node] = (weights[stateOf[node] as number] as number) + ahead;
    }
    [before, now] = [now, before];
  }
  return before[0] as number;
}

/** Configurations of one longest run, first to last. Only for graphs without a cycle. */
export function longestRun(graph: Graph): readonly number[] {
  const { offsets, targets, count } = graph.exploration;
  if (count === 0) return [];
  const best = bestFrom(graph, () => 1);
  const run = [0];
  for (let node = 0; ; ) {
    let next = -1;
    for (let e = offsets[node] as number; e < (offsets[node + 1] as number); e++) {
      const target = targets[e] as number;
      if (next === -1 || (best[target] as number) > (best[next] as number)) next = target;
    }
    if (next === -1) return run;
    run.push(next);
    node = next;
  }
}

/** Nodes grouped by component, which are numbered successors first. */
export function byComponent(components: Components): Members {
  const count = components.of.length;
  const offsets = new Int32Array(components.count + 1);
  for (let i = 0; i < count; i++) {
    const c = components.of[i] as number;
    offsets[c + 1] = (offsets[c + 1] as number) + 1;
  }
  for (let c = 0; c < components.count; c++)
    offsets[c + 1] = (offsets[c + 1] as number) + (offsets[c] as number);
  const next = offsets.slice();
  const nodes = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const c = components.of[i] as number;
    nodes[next[c] as number] = i;
    next[c] = (next[c] as number) + 1;
  }
  return { nodes, offsets };
}
