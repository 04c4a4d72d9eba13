// What can happen in runs that begin at one entry point. Made once for a pack and asked by every graph rule.

import { components } from "../../base/components.ts";
import { type Flow, type FlowState, NONE } from "../../core/flow.ts";
import { type Exploration, explore } from "./explore.ts";
import { type Lasso, lassos } from "./lasso.ts";
import { byComponent, type Graph } from "./longest.ts";
import { staticRows } from "./static-graph.ts";

export interface Analysis {
  readonly start: number;
  /** False when exploration met its limit; the sets below then come from the static graph. */
  readonly exact: boolean;
  readonly graph: Graph;
  /** States some run enters. */
  readonly reachable: ReadonlySet<number>;
  /** States from which some run comes to an end at a terminal state. */
  readonly canEnd: ReadonlySet<number>;
  /** Endless runs. Past the limit there may be others. */
  readonly lassos: readonly Lasso[];
}

export function analyse(flow: Flow, start: number, limit?: number): Analysis {
  const exploration = explore(flow, start, limit === undefined ? {} : { limit });
  const graph = graphOf(exploration);
  // What was explored before the limit is a part of the truth: an endless run found there is real.
  if (!exploration.complete) {
    return { start, exact: false, graph, ...staticSets(flow, start), lassos: lassos(graph) };
  }
  const reachable = new Set(exploration.stateOf);
  return { start, exact: true, graph, reachable, canEnd: endingStates(graph), lassos: lassos(graph) };
}

function graphOf(exploration: Exploration): Graph {
  const found = components(exploration);
  const cyclic = new Uint8Array(found.count);
  const { offsets, targets } = exploration;
  for (let node = 0; node < exploration.count; node++) {
    for (let e = offsets[node] as number; e < (offsets[node + 1] as number); e++) {
      const component = found.of[node] as number;
      if (found.of[targets[e] as number] === component) cyclic[component] = 1;
    }
  }
  return { exploration, components: found, members: byComponent(found), cyclic };
}

/** A state whose graph is known only in part may lead anywhere, so it is never blamed. */
const ends = (state: FlowState): boolean => state.terminal || state.incomplete;

/** Components are numbered successors first, so one pass sees what lies ahead of each configuration. */
function endingStates(graph: Graph): ReadonlySet<number> {
  const { members } = graph;
  const { offsets, targets, stateOf, flow } = graph.exploration;
  const ending = new Uint8Array(graph.components.count);
  const states = new Set<number>();
  for (let c = 0; c < graph.components.count; c++) {
    const end = members.offsets[c + 1] as number;
    for (let m = members.offsets[c] as number; m < end; m++) {
      const node = members.nodes[m] as number;
      let isEnding = ends(flow.states[stateOf[node] as number] as FlowState);
      for (let e = offsets[node] as number; e < (offsets[node + 1] as number) && !isEnding; e++) {
        isEnding = ending[graph.components.of[targets[e] as number] as number] === 1;
      }
      if (isEnding) ending[c] = 1;
    }
    for (let m = members.offsets[c] as number; m < end && ending[c] === 1; m++) {
      states.add(stateOf[members.nodes[m] as number] as number);
    }
  }
  return states;
}

function reversed(rows: { offsets: ArrayLike<number>; targets: ArrayLike<number>; count: number }) {
  const offsets = new Int32Array(rows.count + 1);
  const edges = rows.offsets[rows.count] as number;
  for (let e = 0; e < edges; e++) {
    const target = rows.targets[e] as number;
    offsets[target + 1] = (offsets[target + 1] as number) + 1;
  }
  for (let i = 0; i < rows.count; i++) offsets[i + 1] = (offsets[i + 1] as number) + (offsets[i] as number);
  const next = offsets.slice();
  const targets = new Int32Array(edges);
  for (let node = 0; node < rows.count; node++) {
    for (let e = rows.offsets[node] as number; e < (rows.offsets[node + 1] as number); e++) {
      const target = rows.targets[e] as number;
      targets[next[target] as number] = node;
      next[target] = (next[target] as number) + 1;
    }
  }
  return { offsets, targets };
}

/** The same asked of the static graph, where every guard may fire: more is reachable, and more can end. */
function staticSets(flow: Flow, start: number) {
  const rows = staticRows(flow);
  const back = reversed(rows);
  const finals: number[] = [];
  for (const [index, state] of flow.states.entries()) if (ends(state)) finals.push(index);
  return { reachable: walk(rows, start === NONE ? [] : [start]), canEnd: walk(back, finals) };
}

function walk(rows: { offsets: ArrayLike<number>; targets: ArrayLike<number> }, from: readonly number[]) {
  const seen = new Set(from);
  const queue = [...from];
  for (let head = 0; head < queue.length; head++) {
    const node = queue[head] as number;
    for (let e = rows.offsets[node] as number; e < (rows.offsets[node + 1] as number); e++) {
      const target = rows.targets[e] as number;
      if (seen.has(target)) continue;
      seen.add(target);
      queue.push(target);
    }
  }
  return seen;
}
