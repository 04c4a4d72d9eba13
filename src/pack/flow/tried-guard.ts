// Advice that was tried: the guard which, set on one state of an endless cycle, ends it.

import { components } from "../../base/components.ts";
import type { Flow, FlowState } from "../../core/flow.ts";
import { analyse } from "./analysis.ts";
import { nearestEnd, nearestExit, stepsToEnd } from "./exits.ts";
import type { Lasso } from "./lasso.ts";
import { exhaustedGraph } from "./static-graph.ts";

export interface TriedGuard {
  readonly state: number;
  readonly visitsMax: number;
  /** `NONE` when no way leads from the state to an end: the run then ends at the guard. */
  readonly fallback: number;
}

/** The limit tried, and named in the advice. */
const VISITS_TRIED = 3;
// Advice is worth less time than the finding itself: so many members of a cycle are tried, so many of them by
// exploring, in flows of so many states, and so far.
const MEMBERS_MAX = 64;
const EXPLORING_MAX = 8;
const STATES_MAX = 300;
const CONFIGURATIONS_MAX = 10_000;

interface GuardQuestion {
  readonly flow: Flow;
  readonly starts: readonly number[];
  readonly lasso: Lasso;
  /** Other endless runs of the pack, which the guard need not end. */
  readonly others: readonly Lasso[];
}

/**
 * The first state of the cycle in file order that makes every run end when it is guarded and falls back to
 * its nearest exit; else the first that ends the runs through this cycle, where there are other endless ones.
 */
export function triedGuard({ flow, starts, lasso, others }: GuardQuestion): TriedGuard | undefined {
  const members = [...new Set(lasso.cycle.map((leg) => leg.state))].sort((a, b) => a - b);
  const steps = stepsToEnd(flow);
  let second: TriedGuard | undefined;
  for (const [tried, state] of members.slice(0, MEMBERS_MAX).entries()) {
    const guard = { state, visitsMax: VISITS_TRIED, fallback: fallbackFor(flow, state, steps) };
    const exploring = tried < EXPLORING_MAX && flow.states.length <= STATES_MAX ? starts : [];
    const effect = effectOf(guarded(flow, guard), exploring, { members, others });
    if (effect === "bounded") return guard;
    if (effect === "cycle ends") second ??= guard;
  }
  return second;
}

/** An external state waits for a decision. Its guard must not take one of the ways that decision opens. */
function fallbackFor(flow: Flow, state: number, steps: readonly number[]): number {
  const { external } = flow.states[state] as FlowState;
  return external ? nearestEnd(flow, state, steps) : nearestExit(flow, state, steps);
}

function guarded(flow: Flow, { state, visitsMax, fallback }: TriedGuard): Flow {
  const states = [...flow.states];
  states[state] = { ...(flow.states[state] as FlowState), visitsMax, fallback };
  return { ...flow, states };
}

type Effect = "bounded" | "cycle ends" | "none";

/** Test A answers in one pass over the states; only where it sees a cycle are runs explored (test B). */
function effectOf(
  flow: Flow,
  starts: readonly number[],
  { members, others }: { members: readonly number[]; others: readonly Lasso[] },
): Effect {
  const cyclic = statesOnCycles(exhaustedGraph(flow));
  if (cyclic.size === 0) return "bounded";
  const analyses = starts.map((start) => analyse(flow, start, CONFIGURATIONS_MAX));
  const endless = analyses.flatMap((analysis) => analysis.lassos);
  const explored = analyses.length > 0 && analyses.every((analysis) => analysis.exact);
  if (explored && endless.length === 0) return "bounded";
  if (!explored) return members.some((state) => cyclic.has(state)) ? "none" : "cycle ends";
  const left = endless.filter((lasso) => !others.some((other) => isPartOf(lasso, other)));
  const stillEndless = new Set(left.flatMap((lasso) => lasso.members));
  return members.some((state) => stillEndless.has(state)) ? "none" : "cycle ends";
}

function isPartOf(lasso: Lasso, other: Lasso): boolean {
  return lasso.plain === other.plain && lasso.members.every((state) => other.members.includes(state));
}

/** States on a cycle once every guard is full: an endless run comes to stay among them. */
function statesOnCycles(next: readonly (readonly number[])[]): ReadonlySet<number> {
  const offsets = [0];
  const targets: number[] = [];
  for (const row of next) {
    targets.push(...row);
    offsets.push(targets.length);
  }
  const { of } = components({ offsets, targets, count: next.length });
  const cyclic = new Set<number>();
  for (const [state, row] of next.entries()) {
    if (row.some((target) => of[target] === of[state])) cyclic.add(of[state] as number);
  }
  return new Set(next.flatMap((_, state) => (cyclic.has(of[state] as number) ? [state] : [])));
}
