// PP304: a terminal state with transitions, which never fire.

import { removeAt } from "../../fix/edits.ts";
import { onKey, type Rule } from "../rule.ts";

export const terminalWithEvents: Rule = {
  code: "PP304",
  severity: "warning",
  fix: "safe",
  title: "transitions of a terminal state never fire",
  explain:
    "A run completes when the prompt of a terminal state has executed, so its `on_event` is never looked " +
    "at. Remove the transitions, or drop `terminal: true` if the run should go on.",
  bad: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Done: done } }
    done: { prompt_task: p, terminal: true, on_event: { Again: work } }
`,
  good: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Done: done } }
    done: { prompt_task: p, terminal: true }
`,
  check: ({ pack, root, text }, report) => {
    for (const [name, state] of Object.entries(pack.workflow?.states ?? {})) {
      const events = Object.keys(state.on_event ?? {});
      if (state.terminal !== true || events.length === 0) continue;
      const path = ["workflow", "states", name, "on_event"];
      report({
        at: onKey(...path),
        message: `transitions of \`${name}\` never fire`,
        why: "it is terminal",
        help: "remove them",
        fix: { title: "remove `on_event`", edits: removeAt(root, text, path) },
        data: { state: name, events },
      });
    }
  },
};
