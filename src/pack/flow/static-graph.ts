// The graph of names: event edges and on_max_visits edges, whether or not a guard can really fire.

import { type Components, components, type Rows } from "../../base/components.ts";
import { type Flow, type FlowState, isGuarded, NONE } from "../../core/flow.ts";

export function staticRows(flow: Flow): Rows {
  const offsets = [0];
  const targets: number[] = [];
  for (const state of flow.states) {
    for (const event of state.events) targets.push(event.target);
    if (state.fallback !== NONE) targets.push(state.fallback);
    offsets.push(targets.length);
  }
  return { offsets, targets, count: flow.states.length };
}

export function staticComponents(flow: Flow): Components {
  return components(staticRows(flow));
}

/**
 * The graph among unguarded states once every guard is exhausted (test A): `next[u]` are the states `u` can
 * move to. Guarded states have no row, since none of them can be entered any more.
 */
export function exhaustedGraph(flow: Flow): readonly (readonly number[])[] {
  const ends = endsOfChains(flow);
  return flow.states.map((state) => {
    if (isGuarded(state)) return [];
    return state.events.map(({ target }) => ends[target] as number).filter((target) => target !== NONE);
  });
}

/** Where aiming at each state leads when every guard is exhausted; `NONE` where that ends the run. */
function endsOfChains(flow: Flow): Int32Array {
  const UNKNOWN = -2;
  const ends = new Int32Array(flow.states.length).fill(UNKNOWN);
  for (let start = 0; start < flow.states.length; start++) {
    const chain: number[] = [];
    let end = start;
    while (end !== NONE && ends[end] === UNKNOWN && isGuarded(flow.states[end] as FlowState)) {
      // Met again before its end is known, the chain is a circle.
      ends[end] = NONE;
      chain.push(end);
      end = (flow.states[end] as FlowState).fallback;
    }
    if (end !== NONE && isGuarded(flow.states[end] as FlowState)) end = ends[end] as number;
    else if (end !== NONE) ends[end] = end;
    for (const state of chain) ends[state] = end;
  }
  return ends;
}

/**
 * Test A: the length of the longest walk from each unguarded state with all guards exhausted. It falls with
 * every step among unguarded states, which proves that runs end. Undefined when that graph has a cycle.
 */
export function rankOf(flow: Flow): readonly number[] | undefined {
  const next = exhaustedGraph(flow);
  const offsets = [0];
  const targets: number[] = [];
  for (const row of next) {
    targets.push(...row);
    offsets.push(targets.length);
  }
  const { of, count } = components({ offsets, targets, count: next.length });
  if (count < next.length || next.some((row, state) => row.includes(state))) return undefined;
  // Component numbers are given successors first, so one pass in that order sees every successor before.
  const order = Array.from({ length: next.length }, (_, state) => state);
  order.sort((a, b) => (of[a] as number) - (of[b] as number));
  const rank = next.map(() => 0);
  for (const state of order) {
    for (const target of next[state] as readonly number[]) {
      rank[state] = Math.max(rank[state] as number, (rank[target] as number) + 1);
    }
  }
  return rank;
}
