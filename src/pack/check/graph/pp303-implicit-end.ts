// PP303: a state that ends the run because it has no events, without saying that it is meant to.

import { addEntry } from "../../fix/edits.ts";
import { onKey, type Rule } from "../rule.ts";
import { statesWithoutEvents } from "./silent-ends.ts";

export const implicitEnd: Rule = {
  code: "PP303",
  severity: "warning",
  fix: "safe",
  title: "state ends the run without saying so",
  explain:
    "A state without `on_event` entries is terminal: its prompt executes and the run completes. A reader " +
    "cannot tell whether that is meant or whether the events are still missing. Say `terminal: true`, " +
    "which changes nothing about the run, or add the events.",
  bad: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Done: closing } }
    closing: { prompt_task: p }
`,
  good: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Done: closing } }
    closing: { prompt_task: p, terminal: true }
`,
  check: (context, report) => {
    for (const { name, state, kind } of statesWithoutEvents(context)) {
      if (kind !== "end") continue;
      const path = ["workflow", "states", name];
      report({
        at: onKey(...path),
        message: `\`${name}\` ends the run without saying so`,
        why:
          state.on_event === undefined
            ? "a state without on_event counts as terminal"
            : "empty on_event counts as terminal",
        help: "add `terminal: true`",
        fix: {
          title: "add `terminal: true`",
          edits: addEntry(context.root, context.text, path, "terminal", "true"),
        },
        data: { state: name },
      });
    }
  },
};
