// The most visits of each single state: separate maxima, each over all runs.
//
// A guarded state is counted in the configurations themselves. An unguarded one needs a longest path of its
// own, but only through the static component it is in: the rest of a run cannot enter it.

import { type FlowState, isGuarded } from "../../core/flow.ts";
import { IntList } from "./int-list.ts";
import type { Graph, Members } from "./longest.ts";
import { staticComponents } from "./static-graph.ts";

interface PerStateQuestion {
  readonly graph: Graph;
  /** The visit budget, when it cuts runs short; else null. */
  readonly cut: number | null;
  /** The most visits of all states together. */
  readonly all: number;
}

interface PerState {
  /** By state; 0 for states that no run enters. `Infinity` where laps add to it. */
  readonly visits: Float64Array;
  /** False when some of them are only upper bounds. */
  readonly exact: boolean;
}

/** Edges followed; about a tenth of a second. */
const STEPS_MAX = 50_000_000;

export function visitsPerState({ graph, cut, all }: PerStateQuestion): PerState {
  const visits = countedVisits(graph, cut);
  let steps = 0;
  let exact = true;
  for (const part of parts(graph, cut !== null)) {
    steps += part.open.length * (part.states.length + part.targets.length) * (cut ?? 1);
    const affordable = steps <= STEPS_MAX;
    exact &&= affordable;
    // Between two visits of a state that no lap repeats, some guarded state of its component is entered.
    const atMost = part.guards.reduce((sum, guard) => sum + (visits[guard] as number), 1);
    for (const state of part.open) {
      if (!affordable) visits[state] = part.endless.has(state) ? all : Math.min(all, atMost);
      else visits[state] = cut === null ? mostIn(part, state) : mostWithin(part, state, cut);
    }
  }
  return { visits, exact };
}

/** Right for guarded states, and for those that no static cycle leads back to. */
function countedVisits({ exploration }: Graph, cut: number | null): Float64Array {
  const { flow, count, stateOf, depthOf, entriesIn } = exploration;
  const visits = new Float64Array(flow.states.length);
  for (let node = 0; node < count; node++) {
    if (cut !== null && (depthOf[node] as number) > cut) continue;
    const state = stateOf[node] as number;
    visits[state] = Math.max(visits[state] as number, entriesIn(node), 1);
  }
  return visits;
}

/** The configurations in one static component; without a budget those of one cycle are one node. */
interface Part {
  /** Reachable states of the component, unguarded and guarded. */
  readonly open: number[];
  readonly guards: number[];
  /** State of each node, successors first; `CYCLE` where several are one. */
  readonly states: IntList;
  readonly depths: IntList;
  readonly offsets: IntList;
  readonly targets: IntList;
  /** States on a cycle of configurations. */
  readonly endless: Set<number>;
}

const CYCLE = -1;

/** Parts with an unguarded state that a static cycle leads back to. */
function parts(graph: Graph, walkCycles: boolean): readonly Part[] {
  const { stateOf, depthOf, offsets, targets } = graph.exploration;
  const partOf = partsByState(graph);
  const found = [...new Set(partOf)].filter((part) => part !== undefined);
  if (found.length === 0) return [];
  const groups = walkCycles ? singleNodes(graph.exploration.count) : graph.members;
  const groupOf = walkCycles ? groups.nodes : graph.components.of;
  const groupCount = groups.offsets.length - 1;
  const local = new Int32Array(groupCount);
  const stateIn = (group: number) =>
    stateOf[groups.nodes[groups.offsets[group] as number] as number] as number;
  for (let group = 0; group < groupCount; group++) {
    const part = partOf[stateIn(group)];
    if (part === undefined) continue;
    const isCycle = !walkCycles && graph.cyclic[group] === 1;
    local[group] = part.states.length;
    part.states.push(isCycle ? CYCLE : stateIn(group));
    part.depths.push(depthOf[groups.nodes[groups.offsets[group] as number] as number] as number);
  }
  for (let group = 0; group < groupCount; group++) {
    const part = partOf[stateIn(group)];
    if (part === undefined) continue;
    part.offsets.push(part.targets.length);
    for (let m = groups.offsets[group] as number; m < (groups.offsets[group + 1] as number); m++) {
      const node = groups.nodes[m] as number;
      if (graph.cyclic[graph.components.of[node] as number] === 1) part.endless.add(stateOf[node] as number);
      for (let e = offsets[node] as number; e < (offsets[node + 1] as number); e++) {
        const target = groupOf[targets[e] as number] as number;
        if (target === group && !walkCycles) continue;
        if (partOf[stateIn(target)] === part) part.targets.push(local[target] as number);
      }
    }
  }
  for (const part of found) part.offsets.push(part.targets.length);
  return found;
}

function partsByState({ exploration }: Graph): readonly (Part | undefined)[] {
  const { flow, stateOf } = exploration;
  const { of, count } = staticComponents(flow);
  const size = new Int32Array(count);
  for (const component of of) size[component] = (size[component] as number) + 1;
  const found = new Map<number, Part>();
  const reachable = [...new Set(stateOf)].sort((a, b) => a - b);
  const guarded = (index: number) => isGuarded(flow.states[index] as FlowState);
  for (const index of reachable.filter((state) => !guarded(state))) {
    const component = of[index] as number;
    const { events } = flow.states[index] as FlowState;
    if (size[component] === 1 && events.every(({ target }) => target !== index)) continue;
    const part = found.get(component) ?? emptyPart();
    found.set(component, part);
    part.open.push(index);
  }
  for (const index of reachable.filter(guarded)) found.get(of[index] as number)?.guards.push(index);
  return flow.states.map((_, index) => found.get(of[index] as number));
}

function emptyPart(): Part {
  const [states, depths, offsets, targets] = [new IntList(), new IntList(), new IntList(), new IntList()];
  return { open: [], guards: [], states, depths, offsets, targets, endless: new Set() };
}

function singleNodes(count: number): Members {
  const offsets = Int32Array.from({ length: count + 1 }, (_, node) => node);
  return { nodes: offsets.subarray(0, count), offsets };
}

function mostIn(part: Part, state: number): number {
  if (part.endless.has(state)) return Infinity;
  const states = part.states.done();
  const offsets = part.offsets.done();
  const targets = part.targets.done();
  const best = new Int32Array(states.length);
  let most = 0;
  for (let node = 0; node < states.length; node++) {
    let ahead = 0;
    const end = offsets[node + 1] as number;
    for (let e = offsets[node] as number; e < end; e++) {
      const there = best[targets[e] as number] as number;
      if (there > ahead) ahead = there;
    }
    if (states[node] === state) ahead++;
    best[node] = ahead;
    if (ahead > most) most = ahead;
  }
  return most;
}

/** A run gets to a configuration soonest after `depth` visits, and has the rest of the budget from there. */
function mostWithin(part: Part, state: number, visitsMax: number): number {
  const states = part.states.done();
  const depths = part.depths.done();
  const offsets = part.offsets.done();
  const targets = part.targets.done();
  let before = new Int32Array(states.length);
  let now = new Int32Array(states.length);
  let most = 0;
  for (let left = 1; left <= visitsMax; left++) {
    for (let node = 0; node < states.length; node++) {
      let ahead = 0;
      const end = offsets[node + 1] as number;
      for (let e = offsets[node] as number; e < end; e++) {
        const there = before[targets[e] as number] as number;
        if (there > ahead) ahead = there;
      }
      if (states[node] === state) ahead++;
      now[node] = ahead;
      if (ahead > most && (depths[node] as number) + left - 1 <= visitsMax) most = ahead;
    }
    [before, now] = [now, before];
  }
  return most;
}
