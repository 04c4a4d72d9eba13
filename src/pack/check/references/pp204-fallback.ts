// PP204: a guard sends the run to a state that does not exist.

import { replaceScalar } from "../../fix/edits.ts";
import { onValue, type Rule } from "../rule.ts";
import { asked, namesAt } from "./known-names.ts";

export const fallbackState: Rule = {
  code: "PP204",
  severity: "error",
  fix: "unsafe",
  title: "on_max_visits is not a state",
  explain:
    "`on_max_visits` names the state a run goes to when the guarded one may not be entered again. It must " +
    "be a key of `workflow.states`, or the guard would have nowhere to go. Correct the spelling, or add " +
    "the state.",
  bad: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Emit Done or Again. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, on_event: { Done: finish, Again: work }, max_visits: 3, on_max_visits: finsh }
    finish: { prompt_task: close, terminal: true }
  engine: { budget: { max_total_visits: 5 } }
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
    const states = namesAt(context, "workflow", "states");
    if (states === undefined) return;
    for (const [name, state] of Object.entries(context.pack.workflow?.states ?? {})) {
      const target = state.on_max_visits;
      if (target === undefined || states.has(target)) continue;
      const path = ["workflow", "states", name, "on_max_visits"];
      const meant = states.guess(target);
      report({
        at: onValue(...path),
        message: `\`${name}\` falls back to \`${target}\`, which is not a state`,
        why: "the guard would have nowhere to go",
        help: "name a key of workflow.states, or add the state",
        ...(meant !== undefined && {
          label: asked(meant),
          fix: { title: `go to \`${meant}\``, edits: replaceScalar(context.root, context.text, path, meant) },
        }),
        data: { state: name, target, suggestion: meant ?? null },
      });
    }
  },
};
