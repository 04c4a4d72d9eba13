// The state graph as numbers, and the one rule of entering a state. The checker explores it and the engine
// runs it, so a termination certificate speaks about the engine and not about a copy of it.

import type { Program } from "./program.ts";

/** No state: the run ends, or there is no fallback. */
export const NONE = -1;

export interface FlowEvent {
  readonly name: string;
  readonly target: number;
}

export interface FlowState {
  readonly name: string;
  /** In file order. Empty when the state is terminal: its transitions never fire (S8). */
  readonly events: readonly FlowEvent[];
  readonly terminal: boolean;
  readonly external: boolean;
  /** `Infinity` when the state is not guarded. */
  readonly visitsMax: number;
  readonly fallback: number;
  /** Some target named here does not exist, so the graph is known only in part. */
  readonly incomplete: boolean;
}

/** `entry` is `NONE` when the workflow names no existing state. */
export interface Flow {
  readonly states: readonly FlowState[];
  readonly entry: number;
}

export const isGuarded = (state: FlowState): boolean => state.visitsMax !== Infinity;

/**
 * S7: the state really entered when `target` is aimed at and state `s` was entered `visits[s]` times, or
 * `NONE` when the run ends instead. Each exhausted state passed on the way is pushed to `hops`, an empty
 * list.
 *
 * A chain is a function of the counters alone, so a state met twice is met for ever. The mark moves ahead
 * after 1, 2, 4, 8 hops and so on until it stands in the circle, where the chain comes back to it: the loop
 * is bounded by three times the length of the chain.
 */
export function resolveEntry(flow: Flow, target: number, visits: ArrayLike<number>, hops?: number[]): number {
  let current = target;
  let mark = NONE;
  for (let hop = 1, nextMark = 1; current !== mark; hop++) {
    const state = flow.states[current] as FlowState;
    if ((visits[current] as number) < state.visitsMax) return current;
    hops?.push(current);
    if (state.fallback === NONE) return NONE;
    if (hop === nextMark) {
      mark = current;
      nextMark *= 2;
    }
    current = state.fallback;
  }
  // Each state of the circle was passed once before any was passed again.
  if (hops !== undefined) hops.length = new Set(hops).size;
  return NONE;
}

/** The flow of a program. A target that names no state is left out and marks its state `incomplete`. */
export function flowOf(program: Program): Flow {
  const specs = program.workflow === null ? [] : Object.entries(program.workflow.states);
  const indexByName = new Map(specs.map(([name], index) => [name, index]));
  const states = specs.map(([name, spec]): FlowState => {
    const events: FlowEvent[] = [];
    for (const [event, target] of Object.entries(spec.events)) {
      const index = indexByName.get(target);
      if (index !== undefined) events.push({ name: event, target: index });
    }
    const fallback = spec.onMaxVisits === null ? NONE : (indexByName.get(spec.onMaxVisits) ?? NONE);
    const lost = spec.onMaxVisits !== null && fallback === NONE;
    return {
      name,
      events,
      terminal: spec.terminal,
      external: spec.orchestration === "external",
      visitsMax: spec.maxVisits ?? Infinity,
      fallback: spec.maxVisits === null ? NONE : fallback,
      incomplete: lost || events.length < Object.keys(spec.events).length,
    };
  });
  const entry = program.workflow === null ? NONE : (indexByName.get(program.workflow.entry) ?? NONE);
  return { states, entry };
}
