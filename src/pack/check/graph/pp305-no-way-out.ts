// PP305: a state that is said to go on, by `terminal: false` or by a guard, but has no events.

import { onKey, type Rule } from "../rule.ts";
import { statesWithoutEvents } from "./silent-ends.ts";

export const noWayOut: Rule = {
  code: "PP305",
  severity: "warning",
  title: "state is said to go on but has no way out",
  explain:
    "Without `on_event` entries a state ends the run, whatever else it says. `terminal: false` then has " +
    "no effect, and `max_visits` cannot either, because the run is over after the first visit. Add the " +
    "missing events, or say `terminal: true`.",
  bad: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Failed: retry } }
    retry: { prompt_task: p, max_visits: 3 }
`,
  good: `
workflow:
  version: 2
  entry: work
  engine: { budget: { max_total_visits: 9 } }
  states:
    work: { prompt_task: p, on_event: { Failed: retry, Done: done } }
    retry: { prompt_task: p, max_visits: 3, on_max_visits: done, on_event: { Retried: work } }
    done: { prompt_task: p, terminal: true }
`,
  check: (context, report) => {
    for (const { name, state, kind } of statesWithoutEvents(context)) {
      if (kind !== "contradiction") continue;
      const guard = state.max_visits;
      const claim = guard === undefined ? "says `terminal: false` but has" : "has a guard but";
      report({
        at: onKey("workflow", "states", name, guard === undefined ? "terminal" : "max_visits"),
        message: `\`${name}\` ${claim} no way out`,
        why: "it is entered, then the run ends",
        help: "add `on_event` or `terminal: true`",
        data: { state: name, max_visits: guard ?? null },
      });
    }
  },
};
