// PP205: a fallback without the guard that would use it.

import { addEntry } from "../../fix/edits.ts";
import { onKey, type Rule } from "../rule.ts";
import { isMisspelt } from "./known-names.ts";

/** Enough for a retry and one more; the author decides. */
const VISITS = 3;

export const idleFallback: Rule = {
  code: "PP205",
  severity: "warning",
  fix: "unsafe",
  title: "on_max_visits without max_visits",
  explain:
    "`on_max_visits` says where to go when a state has been entered `max_visits` times. Without that " +
    "number the limit is never reached and the fallback never used, so a loop the author believes bounded " +
    "is not. Add `max_visits`, or remove the fallback.",
  bad: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Emit Done or Again. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, on_event: { Done: finish, Again: work }, on_max_visits: finish }
    finish: { prompt_task: close, terminal: true }
`,
  good: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Emit Done or Again. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, on_event: { Done: finish, Again: work }, max_visits: 3, on_max_visits: finish }
    finish: { prompt_task: close, terminal: true }
  engine: { budget: { max_total_visits: 5 } }
`,
  check: (context, report) => {
    for (const [name, state] of Object.entries(context.pack.workflow?.states ?? {})) {
      const path = ["workflow", "states", name];
      if (state.on_max_visits === undefined || context.exists(...path, "max_visits")) continue;
      if (isMisspelt(context, [...path, "max_visits"])) continue;
      report({
        at: onKey(...path, "on_max_visits"),
        message: `\`on_max_visits\` of \`${name}\` never applies`,
        why: "there is no max_visits to reach",
        help: "add `max_visits`",
        fix: {
          title: `add \`max_visits: ${VISITS}\``,
          edits: addEntry(context.root, context.text, path, "max_visits", String(VISITS)),
        },
        data: { state: name, target: state.on_max_visits },
      });
    }
  },
};
