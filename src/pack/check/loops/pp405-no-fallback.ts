// PP405: a guard without `on_max_visits`, which ends the run when it is full.

import { NONE } from "../../../core/flow.ts";
import { onKey, type Rule } from "../rule.ts";
import { ordinal } from "../wording.ts";
import { canBeFull } from "./forced-exits.ts";

export const noFallback: Rule = {
  code: "PP405",
  severity: "info",
  title: "guard without on_max_visits ends the run",
  explain:
    "When the state has been entered `max_visits` times, the next attempt ends the run with status " +
    "`budget_exhausted`, wherever the work stands. Name a state in `on_max_visits` to end in an orderly " +
    "way, for example one that reports what was reached.",
  bad: `
workflow:
  version: 2
  entry: fix
  engine: { budget: { max_total_visits: 9 } }
  states:
    fix: { prompt_task: p, max_visits: 3, on_event: { Failed: fix, Fixed: done } }
    done: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: fix
  engine: { budget: { max_total_visits: 9 } }
  states:
    fix: { prompt_task: p, max_visits: 3, on_max_visits: give_up, on_event: { Failed: fix, Fixed: done } }
    give_up: { prompt_task: p, terminal: true }
    done: { prompt_task: p, terminal: true }
`,
  check: ({ flow }, report) => {
    for (const state of flow.states) {
      if (!canBeFull(state) || state.fallback !== NONE || state.incomplete) continue;
      const next = ordinal(state.visitsMax + 1);
      report({
        at: onKey("workflow", "states", state.name, "max_visits"),
        message: `${next} visit of \`${state.name}\` ends the run \`budget_exhausted\``,
        why: "there is no on_max_visits",
        help: "name a fallback",
        data: { state: state.name, max_visits: state.visitsMax },
      });
    }
  },
};
