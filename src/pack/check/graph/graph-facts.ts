// Questions about the state graph that several rules ask.

import { type FlowState, NONE } from "../../../core/flow.ts";
import type { CheckContext } from "../rule.ts";

/**
 * Every way into and through the graph is known. Where a target, the entry or an agent's state does not
 * exist, that typo may be all that keeps a state from being reached or a guard from firing.
 */
export function isGraphWhole({ flow, program, isBroken }: CheckContext): boolean {
  if (flow.entry === NONE || flow.states.some((state) => state.incomplete)) return false;
  const states = new Set(flow.states.map((state) => state.name));
  return Object.entries(program.agents?.members ?? {}).every(([name, { state }]) => {
    if (isBroken("agents", "members", name, "state")) return false;
    return state === null || states.has(state);
  });
}

/** Every event leads back to the state itself, and no guard leads on. */
export function onlyRepeats(state: FlowState, index: number): boolean {
  if (state.incomplete || state.events.length === 0) return false;
  const leadsOn = state.fallback !== NONE && state.fallback !== index;
  return !leadsOn && state.events.every((event) => event.target === index);
}
