// PP416: a cycle of states that all continue by themselves (RFC 0014).

import { components, type Rows } from "../../../base/components.ts";
import { type FlowState, isGuarded } from "../../../core/flow.ts";
import { CycleSearch } from "../../flow/shortest-cycle.ts";
import { type CheckContext, onKey, type Rule } from "../rule.ts";
import { cycleText } from "../wording.ts";

export const neverYields: Rule = {
  code: "PP416",
  severity: "warning",
  title: "cycle of agent-controlled states never yields",
  explain:
    "In a conversation a state with `control: agent` goes on by itself instead of handing the turn to the " +
    "user. Every state of this cycle does so and none has `max_visits`, so the user may never get to " +
    "speak again. Guard one of them, or set `control: user` where the user should be heard.",
  bad: `
workflow:
  version: 2
  entry: a
  engine: { budget: { max_total_visits: 20 } }
  states:
    a: { prompt_task: p, control: agent, on_event: { Next: b } }
    b: { prompt_task: p, control: agent, on_event: { Back: a, Done: end } }
    end: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: a
  engine: { budget: { max_total_visits: 20 } }
  states:
    a: { prompt_task: p, control: agent, on_event: { Next: b } }
    b:
      prompt_task: p
      control: agent
      max_visits: 3
      on_max_visits: end
      on_event: { Back: a, Done: end }
    end: { prompt_task: p, terminal: true }
`,
  check: (context, report) => {
    const rows = rowsAmong(context, (index) => continues(context, index));
    const found = components(rows);
    const search = new CycleSearch(rows, found);
    const done = new Set<number>();
    for (let state = 0; state < rows.count; state++) {
      const component = found.of[state] as number;
      if (done.has(component)) continue;
      const cycle = search.shortest({ nodes: [state], isWanted: () => true });
      if (cycle === undefined) continue;
      done.add(component);
      const names = cycle.map((step) => context.flow.states[step.node]?.name ?? "");
      const alone = names.length === 1;
      report({
        at: onKey("workflow", "states", names[0] ?? ""),
        message: `${cycleText(names)} never yields`,
        why: alone
          ? "it continues by itself and is not guarded"
          : "every member continues by itself and none is guarded",
        help: alone ? "guard it, or set `control: user`" : "guard one, or set `control: user`",
        data: { cycle: names },
      });
    }
  },
};

/** A run enters the state, and neither the user, the outside nor a guard stops it there. */
function continues({ flow, analyses, program, damagedStates }: CheckContext, index: number): boolean {
  const state = flow.states[index] as FlowState;
  if (isGuarded(state) || state.external || state.terminal || damagedStates.has(state.name)) return false;
  if (program.workflow?.states[state.name]?.control !== "agent") return false;
  return analyses.some((analysis) => analysis.reachable.has(index));
}

function rowsAmong({ flow }: CheckContext, isIn: (state: number) => boolean): Rows {
  const within = flow.states.map((_, index) => isIn(index));
  const offsets = [0];
  const targets: number[] = [];
  for (const [index, state] of flow.states.entries()) {
    for (const { target } of within[index] ? state.events : []) if (within[target]) targets.push(target);
    offsets.push(targets.length);
  }
  return { offsets, targets, count: flow.states.length };
}
