// The way out: how far each state is from the end of a run, and which step leads nearer to it.

import { type Flow, type FlowState, NONE } from "../../core/flow.ts";

/** Steps from each state to the nearest terminal state by events and fallbacks; `Infinity` without a way. */
export function stepsToEnd(flow: Flow): readonly number[] {
  const before: number[][] = flow.states.map(() => []);
  for (const [index, state] of flow.states.entries()) {
    for (const event of state.events) (before[event.target] as number[]).push(index);
    if (state.fallback !== NONE) (before[state.fallback] as number[]).push(index);
  }
  const steps = flow.states.map((state) => (state.terminal ? 0 : Infinity));
  const queue = flow.states.flatMap((state, index) => (state.terminal ? [index] : []));
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] as number;
    for (const previous of before[state] as readonly number[]) {
      if (steps[previous] !== Infinity) continue;
      steps[previous] = (steps[state] as number) + 1;
      queue.push(previous);
    }
  }
  return steps;
}

/** The state an event of `state` leads to that is nearest to the end; `NONE` when none leads there. */
export function nearestExit(flow: Flow, state: number, steps: readonly number[]): number {
  const { events } = flow.states[state] as FlowState;
  return nearestOf(
    events.map((event) => event.target),
    steps,
  );
}

/** The terminal state nearest to `state`; `NONE` when there is no way to one. */
export function nearestEnd(flow: Flow, state: number, steps: readonly number[]): number {
  let at = state;
  // Each step is nearer to the end than the one before, so there are no more of them than states.
  while (at !== NONE && !(flow.states[at] as FlowState).terminal) {
    const { events, fallback } = flow.states[at] as FlowState;
    at = nearestOf([...events.map((event) => event.target), ...(fallback === NONE ? [] : [fallback])], steps);
  }
  return at;
}

function nearestOf(states: readonly number[], steps: readonly number[]): number {
  let nearest = NONE;
  for (const state of states) {
    if (steps[state] === Infinity) continue;
    if (nearest === NONE || (steps[state] as number) < (steps[nearest] as number)) nearest = state;
  }
  return nearest;
}
