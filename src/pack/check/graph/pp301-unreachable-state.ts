// PP301: a state that is in no reachable configuration of any entry point.

import { onKey, type Rule } from "../rule.ts";
import { isGraphWhole } from "./graph-facts.ts";

export const unreachableState: Rule = {
  code: "PP301",
  severity: "warning",
  title: "state cannot be reached",
  explain:
    "No event, fired guard or agent leads to this state in any run, so its prompt never executes. An " +
    "`on_max_visits` edge counts only if its guard can really fire. Point an event at the state, or " +
    "remove it.",
  bad: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Done: finish } }
    rollback: { prompt_task: p, on_event: { Done: finish } }
    finish: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Done: finish, Broken: rollback } }
    rollback: { prompt_task: p, on_event: { Done: finish } }
    finish: { prompt_task: p, terminal: true }
`,
  check: (context, report) => {
    if (!isGraphWhole(context)) return;
    const { flow, analyses } = context;
    const exact = analyses.every((analysis) => analysis.exact);
    for (const [index, state] of flow.states.entries()) {
      if (analyses.some((analysis) => analysis.reachable.has(index))) continue;
      report({
        at: onKey("workflow", "states", state.name),
        message: `state \`${state.name}\` cannot be reached`,
        why: "no event, fired guard or agent leads to it",
        help: "point an event at it, or remove it",
        data: { state: state.name, exact },
      });
    }
  },
};
