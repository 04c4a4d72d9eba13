// Endless runs made visible: the shortest way into a cycle, and the cycle.
//
// An endless run stays among unguarded states from some point on. Its cycle is plain when every event of it
// goes where it says: such a cycle does not depend on counters and is found in the graph of states. Otherwise
// a full guard diverts one of its events, and it is found among the configurations.

import { type Components, components, type Rows } from "../../base/components.ts";
import { type Flow, type FlowState, isGuarded } from "../../core/flow.ts";
import type { Exploration } from "./explore.ts";
import type { Graph } from "./longest.ts";
import { CycleSearch, type Step } from "./shortest-cycle.ts";

/** Components with a cycle looked at. Each has its own set of exhausted guards, and most repeat. */
const COMPONENTS_MAX = 1_000;

/** One visit of a witness path: the state entered, the event that led there, the guards that diverted it. */
export interface Leg {
  readonly state: number;
  readonly event: string;
  readonly redirected: boolean;
  /** In the order they were passed; empty when the event goes where it says. */
  readonly hops: readonly number[];
}

export interface Lasso {
  /** From the entry to the first state of the cycle. */
  readonly prefix: readonly Leg[];
  /** One lap: the states entered after the last of the prefix; the last one is that state again. */
  readonly cycle: readonly Leg[];
  /** Guards at their limit while the cycle turns. */
  readonly exhausted: readonly number[];
  /** True when every event of the cycle goes where it says: no guard is needed for it. */
  readonly plain: boolean;
  /** States of the whole strongly connected component, by index. */
  readonly members: readonly number[];
}

/**
 * One lasso for each strongly connected group of plain edges, and one for each group of cycles that fired
 * guards make. Groups of the second kind that share a state are one finding; the first in breadth-first order
 * stands for them. A plain cycle already says what is wrong with its states, so a diverted event between
 * states of one plain group makes no lasso of its own. There is a lasso exactly when the graph has a cycle.
 */
export function lassos(graph: Graph): readonly Lasso[] {
  const plain = plainGraph(graph.exploration);
  const found = [...plainLassos(graph.exploration, plain), ...redirectedLassos(graph, plain)];
  return found.sort((a, b) => a.start - b.start).map((one) => one.lasso);
}

/** A lasso and the configuration its cycle begins at. */
interface Found {
  readonly start: number;
  readonly lasso: Lasso;
}

/** Event edges between unguarded states that some run enters. */
interface PlainGraph {
  readonly rows: Rows;
  readonly events: readonly number[];
  readonly components: Components;
  /** Components with a cycle. */
  readonly cyclic: ReadonlySet<number>;
  /** The configuration each state is first met in; -1 for states no run enters. */
  readonly firstMet: Int32Array;
}

function plainGraph(exploration: Exploration): PlainGraph {
  const { flow, stateOf, count } = exploration;
  const firstMet = new Int32Array(flow.states.length).fill(-1);
  for (let node = count - 1; node >= 0; node--) firstMet[stateOf[node] as number] = node;
  const isOpen = (state: number) => firstMet[state] !== -1 && !isGuarded(flow.states[state] as FlowState);
  const offsets = [0];
  const targets: number[] = [];
  const events: number[] = [];
  for (const [index, state] of flow.states.entries()) {
    for (const [event, { target }] of isOpen(index) ? state.events.entries() : []) {
      if (!isOpen(target)) continue;
      targets.push(target);
      events.push(event);
    }
    offsets.push(targets.length);
  }
  const rows = { offsets, targets, count: flow.states.length };
  const found = components(rows);
  return { rows, events, components: found, cyclic: cyclicComponents(rows, found), firstMet };
}

function cyclicComponents({ offsets, targets, count }: Rows, { of }: Components): ReadonlySet<number> {
  const cyclic = new Set<number>();
  for (let node = 0; node < count; node++) {
    for (let edge = offsets[node] as number; edge < (offsets[node + 1] as number); edge++) {
      if (of[node] === of[targets[edge] as number]) cyclic.add(of[node] as number);
    }
  }
  return cyclic;
}

function plainLassos(exploration: Exploration, plain: PlainGraph): readonly Found[] {
  const { rows, firstMet } = plain;
  const groups = new Map<number, number[]>();
  for (let state = 0; state < rows.count; state++) {
    const component = plain.components.of[state] as number;
    if (!plain.cyclic.has(component)) continue;
    const group = groups.get(component);
    if (group === undefined) groups.set(component, [state]);
    else group.push(state);
  }
  const search = new CycleSearch(rows, plain.components);
  const found: Found[] = [];
  for (const members of groups.values()) {
    const soonestFirst = members.toSorted((a, b) => (firstMet[a] as number) - (firstMet[b] as number));
    const cycle = search.shortest({ nodes: soonestFirst, isWanted: () => true });
    if (cycle === undefined) continue;
    const turned = turnedTo(cycle, (state) => firstMet[state] as number);
    const start = firstMet[(turned[0] as Step).node] as number;
    const legs = turned.map(({ node, edge }) =>
      legOf(exploration.flow, {
        from: node,
        event: plain.events[edge] as number,
        to: rows.targets[edge] as number,
      }),
    );
    found.push({ start, lasso: lassoOf(exploration, start, { cycle: legs, plain: true, members }) });
  }
  return found;
}

function redirectedLassos(graph: Graph, plain: PlainGraph): readonly Found[] {
  const { exploration, components: found, cyclic } = graph;
  const seen = new Uint8Array(found.count);
  const claimed = new Uint8Array(exploration.flow.states.length);
  const groups = graph.members;
  const search = new CycleSearch(exploration, found);
  const isWanted = diverting(exploration, plain);
  const result: Found[] = [];
  let searched = 0;
  for (let node = 0; node < exploration.count && searched < COMPONENTS_MAX; node++) {
    const component = found.of[node] as number;
    if (cyclic[component] !== 1 || seen[component] === 1) continue;
    seen[component] = 1;
    const nodes = groups.nodes.subarray(groups.offsets[component], groups.offsets[component + 1]);
    if (nodes.every((one) => claimed[exploration.stateOf[one] as number] === 1)) continue;
    const cycle = search.shortest({ nodes, isWanted });
    if (cycle === undefined) continue;
    searched++;
    if (cycle.some((step) => claimed[exploration.stateOf[step.node] as number] === 1)) continue;
    const members = [...new Set(Array.from(nodes, (one) => exploration.stateOf[one] as number))];
    for (const state of members) claimed[state] = 1;
    const turned = turnedTo(cycle, (one) => one);
    const start = (turned[0] as Step).node;
    const legs = turned.map((step) => exploredLeg(exploration, step));
    members.sort((a, b) => a - b);
    result.push({ start, lasso: lassoOf(exploration, start, { cycle: legs, plain: false, members }) });
  }
  return result;
}

/** Edges a full guard diverts, except those inside one group of plain cycles. */
function diverting(exploration: Exploration, plain: PlainGraph): (step: Step) => boolean {
  const { redirected, stateOf, targets } = exploration;
  const { of } = plain.components;
  return ({ node, edge }) => {
    if (redirected[edge] !== 1) return false;
    const group = of[stateOf[node] as number] as number;
    return group !== of[stateOf[targets[edge] as number] as number] || !plain.cyclic.has(group);
  };
}

/** Turns a cycle so that it begins at the node met soonest. */
function turnedTo(cycle: readonly Step[], metAt: (node: number) => number): readonly Step[] {
  let first = 0;
  for (let i = 1; i < cycle.length; i++) {
    if (metAt((cycle[i] as Step).node) < metAt((cycle[first] as Step).node)) first = i;
  }
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}

function lassoOf(
  exploration: Exploration,
  start: number,
  rest: Pick<Lasso, "cycle" | "plain" | "members">,
): Lasso {
  // Thousands of lassos at the end of long paths are possible; the path is made for those that are shown.
  let prefix: readonly Leg[] | undefined;
  return {
    ...rest,
    get exhausted() {
      return exploration.exhaustedIn(start);
    },
    get prefix() {
      prefix ??= pathTo(exploration, start);
      return prefix;
    },
  };
}

/** The shortest run to a configuration, its first visit included. */
function pathTo(exploration: Exploration, configuration: number): readonly Leg[] {
  const { flow, stateOf, parentOf, eventOf } = exploration;
  const legs: Leg[] = [];
  for (let node = configuration; ; ) {
    const parent = parentOf[node] as number;
    const to = stateOf[node] as number;
    if (parent < 0) {
      legs.push({ state: to, event: "", redirected: false, hops: [] });
      return legs.reverse();
    }
    legs.push(legOf(flow, { from: stateOf[parent] as number, event: eventOf[node] as number, to }));
    node = parent;
  }
}

function exploredLeg({ flow, stateOf, targets, events }: Exploration, { node, edge }: Step): Leg {
  const to = stateOf[targets[edge] as number] as number;
  return legOf(flow, { from: stateOf[node] as number, event: events[edge] as number, to });
}

/** A full state is left by its fallback and by nothing else, so the way from the target to `to` is known. */
function legOf(flow: Flow, { from, event, to }: { from: number; event: number; to: number }): Leg {
  const { name, target } = (flow.states[from] as FlowState).events[event] as { name: string; target: number };
  const hops: number[] = [];
  for (let state = target; state !== to; state = (flow.states[state] as FlowState).fallback) hops.push(state);
  return { state: to, event: name, redirected: hops.length > 0, hops };
}
