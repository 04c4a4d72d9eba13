// Where `on_max_visits` leads from each guarded state when the states on the way are full too.

import { type Flow, type FlowState, isGuarded, NONE } from "../../../core/flow.ts";

/**
 * `open`: the fallbacks lead to a state that can always be entered; `stop`: to a full state without one,
 * where the run ends; `circle`: back into the chain, where it ends too; `unknown`: to a name without state.
 */
type ChainEnd = "open" | "stop" | "circle" | "unknown";

/** A run ends in a terminal state, so none finds it full. */
export const canBeFull = (state: FlowState): boolean => isGuarded(state) && !state.terminal;

/** How the chain of fallbacks from each state ends; `open` for states that are never full themselves. */
export function chainEnds(flow: Flow): readonly ChainEnd[] {
  const ends: (ChainEnd | undefined)[] = flow.states.map(() => undefined);
  for (let start = 0; start < flow.states.length; start++) {
    const chain: number[] = [];
    const onChain = new Set<number>();
    let end: ChainEnd | undefined;
    for (let state = start; end === undefined; state = (flow.states[state] as FlowState).fallback) {
      end = onChain.has(state) ? "circle" : (ends[state] ?? endAt(flow.states[state] as FlowState));
      chain.push(state);
      onChain.add(state);
    }
    for (const state of chain) ends[state] ??= end;
  }
  return ends.map((end) => end ?? "open");
}

function endAt(state: FlowState): ChainEnd | undefined {
  if (!canBeFull(state)) return "open";
  if (state.fallback !== NONE) return undefined;
  return state.incomplete ? "unknown" : "stop";
}

/** The circles among fallbacks, each from its first state in file order. */
export function fallbackCircles(flow: Flow): readonly (readonly number[])[] {
  const ends = chainEnds(flow);
  const circles: number[][] = [];
  const done = new Set<number>();
  for (let start = 0; start < flow.states.length; start++) {
    if (ends[start] !== "circle") continue;
    const chain: number[] = [];
    const at = new Map<number, number>();
    let state = start;
    while (!done.has(state) && !at.has(state)) {
      at.set(state, chain.push(state) - 1);
      state = (flow.states[state] as FlowState).fallback;
    }
    for (const one of chain) done.add(one);
    const from = at.get(state);
    if (from !== undefined) circles.push(turned(chain.slice(from)));
  }
  return circles;
}

function turned(circle: readonly number[]): number[] {
  const first = circle.indexOf(Math.min(...circle));
  return [...circle.slice(first), ...circle.slice(0, first)];
}
