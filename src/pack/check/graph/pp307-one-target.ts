// PP307: a state with several events that all lead to the same state.

import { onKey, type Rule } from "../rule.ts";
import { onlyRepeats } from "./graph-facts.ts";

export const oneTarget: Rule = {
  code: "PP307",
  severity: "info",
  title: "all events of a state lead to one target",
  explain:
    "The model is asked to choose between events that make no difference: the run goes to the same state " +
    "whichever it names. The name still appears in the trace. Merge the events, or send them to different " +
    "states.",
  bad: `
workflow:
  version: 2
  entry: collect
  states:
    collect: { prompt_task: p, on_event: { Found: analyze, NotFound: analyze } }
    analyze: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: collect
  states:
    collect: { prompt_task: p, on_event: { Found: analyze, NotFound: apologize } }
    analyze: { prompt_task: p, terminal: true }
    apologize: { prompt_task: p, terminal: true }
`,
  check: ({ flow }, report) => {
    for (const [index, state] of flow.states.entries()) {
      const [first, ...others] = state.events;
      if (first === undefined || others.length === 0 || state.incomplete) continue;
      if (others.some((event) => event.target !== first.target) || onlyRepeats(state, index)) continue;
      const target = flow.states[first.target]?.name ?? "";
      const events = state.events.map((event) => event.name);
      report({
        at: onKey("workflow", "states", state.name, "on_event"),
        message: `all events of \`${state.name}\` lead to \`${target}\``,
        why: "the choice has no effect",
        help: "merge or split them",
        data: { state: state.name, target, events },
      });
    }
  },
};
