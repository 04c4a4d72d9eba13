// PP306: a state whose every event leads back to itself.

import { onKey, type Rule } from "../rule.ts";
import { onlyRepeats } from "./graph-facts.ts";

export const onlyRepeatsItself: Rule = {
  code: "PP306",
  severity: "warning",
  title: "state can only repeat itself",
  explain:
    "Every event of the state leads back to it and no `on_max_visits` leads on, so a run that enters it " +
    "stays there. Add an event that leads elsewhere, or a guard with a fallback: `max_visits: 5` with " +
    "`on_max_visits` is a counted repetition and is fine.",
  bad: `
workflow:
  version: 2
  entry: poll
  engine: { budget: { max_total_visits: 20 } }
  states:
    poll: { prompt_task: p, on_event: { Tick: poll } }
`,
  good: `
workflow:
  version: 2
  entry: poll
  engine: { budget: { max_total_visits: 20 } }
  states:
    poll: { prompt_task: p, max_visits: 5, on_max_visits: summary, on_event: { Tick: poll } }
    summary: { prompt_task: p, terminal: true }
`,
  check: ({ flow }, report) => {
    for (const [index, state] of flow.states.entries()) {
      if (!onlyRepeats(state, index)) continue;
      const events = state.events.map((event) => event.name);
      const leads = events.length === 1 ? "its only event leads back" : "all its events lead back";
      report({
        at: onKey("workflow", "states", state.name),
        message: `\`${state.name}\` can only repeat itself`,
        why: `${leads} and no guard leads on`,
        help: "add an exit",
        data: { state: state.name, events },
      });
    }
  },
};
