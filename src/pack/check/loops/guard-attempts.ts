// When guards act: the fewest visits after which some run finds a state at its limit.

import type { CheckContext } from "../rule.ts";

interface FirstAttempt {
  /** Visits before the attempt; `Infinity` when no run makes one. */
  readonly visits: number;
  /** False when only so many visits were explored without meeting one. */
  readonly exact: boolean;
}

/** The soonest over all entry points. Past the limit, the depth that was explored bounds it from below. */
export function firstFullAttempt({ analyses }: CheckContext, state: number): FirstAttempt {
  let visits = Infinity;
  let exact = true;
  for (const analysis of analyses) {
    const { exploration } = analysis.graph;
    const found = exploration.firstFullAttempt[state] as number;
    const explored = analysis.exact ? Infinity : (exploration.depthOf[exploration.count - 1] ?? 0);
    if (found <= explored) {
      visits = Math.min(visits, found);
    } else if (explored < visits) {
      visits = explored;
      exact = false;
    }
  }
  return { visits, exact };
}
