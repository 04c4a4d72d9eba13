// States and the steps between them that matter to some run: what graph rules show to people.

import type { Rows } from "../../base/components.ts";
import { type Flow, NONE } from "../../core/flow.ts";
import type { Analysis } from "./analysis.ts";

/** Events of states that some run enters, and the fallbacks of their guards unless no run ever fills them. */
export function liveRows(flow: Flow, analyses: readonly Analysis[]): Rows {
  const offsets = [0];
  const targets: number[] = [];
  for (const [index, state] of flow.states.entries()) {
    if (analyses.some((analysis) => analysis.reachable.has(index))) {
      for (const event of state.events) targets.push(event.target);
      if (state.fallback !== NONE && canAct(analyses, index)) targets.push(state.fallback);
    }
    offsets.push(targets.length);
  }
  return { offsets, targets, count: flow.states.length };
}

/** Some run finds this guard at its limit, or none could be shown not to. */
function canAct(analyses: readonly Analysis[], state: number): boolean {
  return analyses.some(
    ({ exact, graph }) => !exact || graph.exploration.firstFullAttempt[state] !== Infinity,
  );
}
