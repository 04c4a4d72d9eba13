// PP308: an external state without events, which hands the run over and ends it.

import { addEntry } from "../../fix/edits.ts";
import { onKey, type Rule } from "../rule.ts";
import { statesWithoutEvents } from "./silent-ends.ts";

export const handOff: Rule = {
  code: "PP308",
  severity: "info",
  fix: "safe",
  title: "external state without events is a hand-off",
  explain:
    "An external state waits for an event from outside. Without events there is nothing to wait for: the " +
    "prompt is rendered as the text handed over, and the run completes on entry. Add the events it should " +
    "wait for, or say `terminal: true` to show that the hand-off is the end.",
  bad: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Stuck: escalation } }
    escalation: { prompt_task: p, orchestration: external }
`,
  good: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Stuck: escalation } }
    escalation: { prompt_task: p, orchestration: external, terminal: true }
`,
  check: (context, report) => {
    for (const { name, kind } of statesWithoutEvents(context)) {
      if (kind !== "hand-off") continue;
      const path = ["workflow", "states", name];
      report({
        at: onKey(...path),
        message: `\`${name}\` is a hand-off`,
        why: "it is external and has no events, so the run completes on entry",
        help: "add events to wait for, or `terminal: true`",
        fix: {
          title: "add `terminal: true`",
          edits: addEntry(context.root, context.text, path, "terminal", "true"),
        },
        data: { state: name },
      });
    }
  },
};
