// PP302: a reachable state from which no run comes to a terminal state.

import { components, type Rows } from "../../../base/components.ts";
import type { Flow } from "../../../core/flow.ts";
import { liveRows } from "../../flow/live-graph.ts";
import { type CheckContext, onKey, type Rule } from "../rule.ts";
import { listed } from "../wording.ts";
import { onlyRepeats } from "./graph-facts.ts";

export const noWayToEnd: Rule = {
  code: "PP302",
  severity: "warning",
  stricter: true,
  title: "no terminal state can be reached from a state",
  explain:
    "Once a run enters this state, no sequence of events leads to a terminal state, so the run never " +
    "completes: it goes on until it is cancelled or a budget ends it. That may be meant for a " +
    "conversation; a job needs an exit. Mark the state that should end the run `terminal: true`, or add " +
    "an event that leads to one.",
  bad: `
workflow:
  version: 2
  entry: triage
  engine: { budget: { max_total_visits: 20 } }
  states:
    triage: { prompt_task: p, max_visits: 5, on_event: { Sorted: answer } }
    answer: { prompt_task: p, on_event: { Answered: triage } }
`,
  good: `
workflow:
  version: 2
  entry: triage
  engine: { budget: { max_total_visits: 20 } }
  states:
    triage: { prompt_task: p, max_visits: 5, on_max_visits: close, on_event: { Sorted: answer } }
    answer: { prompt_task: p, on_event: { Answered: triage, Solved: close } }
    close: { prompt_task: p, terminal: true }
`,
  check: (context, report) => {
    const { flow, analyses } = context;
    let whyOf: ((state: number) => string) | undefined;
    for (const [index, state] of flow.states.entries()) {
      const entered = analyses.filter((analysis) => analysis.reachable.has(index));
      const stuck = entered.filter((analysis) => !analysis.canEnd.has(index));
      if (stuck.length === 0 || onlyRepeats(state, index)) continue;
      whyOf ??= reasons(context);
      const starts = stuck.map((analysis) => flow.states[analysis.start]?.name ?? "");
      const scope = stuck.length < entered.length ? ` in runs that begin at ${listed(starts)}` : "";
      report({
        at: onKey("workflow", "states", state.name),
        message: `no way from \`${state.name}\` to a terminal state${scope}`,
        why: `${whyOf(index)}; such a run ends only by cancel or budget`,
        help: "mark an exit `terminal: true`",
        data: { state: state.name, starts, exact: stuck.every((analysis) => analysis.exact) },
      });
    }
  },
};

/** Where every path from a state ends up: the part of the graph that nothing leads out of. */
function reasons({ flow, analyses }: CheckContext): (state: number) => string {
  const rows = liveRows(flow, analyses);
  const { of, count } = components(rows);
  const members: number[][] = Array.from({ length: count }, () => []);
  for (let state = 0; state < rows.count; state++) (members[of[state] as number] as number[]).push(state);
  const traps = trapOf(rows, of, members);
  return (state) => {
    const trap = traps[of[state] as number] as number;
    const states = trap === SEVERAL ? [] : (members[trap] as readonly number[]);
    // Counters may close a way that names leave open; then no names can say where the run is kept.
    const isClear = states.length > 0 && !states.some((one) => flow.states[one]?.terminal);
    if (!isClear) return "no run that comes here reaches one";
    if (trap === of[state]) return `every path returns to \`${nameOf(flow, state)}\``;
    const names = states.map((one) => nameOf(flow, one));
    return `every path ends up in ${listed(names)}`;
  };
}

const SEVERAL = -1;

/** For each component the only one its paths end in, or `SEVERAL`; components come successors first. */
function trapOf(
  { offsets, targets }: Rows,
  of: Int32Array,
  members: readonly (readonly number[])[],
): number[] {
  const traps: number[] = [];
  for (const [component, states] of members.entries()) {
    const ahead = new Set<number>();
    for (const state of states) {
      for (let e = offsets[state] as number; e < (offsets[state + 1] as number); e++) {
        const target = of[targets[e] as number] as number;
        if (target !== component) ahead.add(traps[target] as number);
      }
    }
    const [only] = ahead;
    traps.push(only === undefined ? component : ahead.size === 1 ? only : SEVERAL);
  }
  return traps;
}

const nameOf = (flow: Flow, state: number): string => flow.states[state]?.name ?? "";
