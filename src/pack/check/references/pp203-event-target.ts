// PP203: an event leads to a state that does not exist.

import { replaceScalar } from "../../fix/edits.ts";
import { onValue, type Rule } from "../rule.ts";
import { asked, namesAt } from "./known-names.ts";

export const eventTarget: Rule = {
  code: "PP203",
  severity: "error",
  fix: "unsafe",
  title: "event target is not a state",
  explain:
    "Every value in a state's `on_event` must be a key of `workflow.states`. A run that received the " +
    "event would have nowhere to go. Correct the spelling, or add the state.",
  bad: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Emit Done when finished. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, on_event: { Done: finsh } }
    finish: { prompt_task: close, terminal: true }
`,
  good: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Emit Done when finished. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, on_event: { Done: finish } }
    finish: { prompt_task: close, terminal: true }
`,
  check: (context, report) => {
    const states = namesAt(context, "workflow", "states");
    if (states === undefined) return;
    for (const [name, state] of Object.entries(context.pack.workflow?.states ?? {})) {
      for (const [event, target] of Object.entries(state.on_event ?? {})) {
        if (states.has(target)) continue;
        const path = ["workflow", "states", name, "on_event", event];
        const meant = states.guess(target);
        report({
          at: onValue(...path),
          message: `state \`${name}\` sends \`${event}\` to \`${target}\`, which is not a state`,
          why: "every target in on_event must name a key of workflow.states",
          help: "rename the target, or add the state",
          ...(meant !== undefined && {
            label: asked(meant),
            fix: {
              title: `send it to \`${meant}\``,
              edits: replaceScalar(context.root, context.text, path, meant),
            },
          }),
          data: { state: name, event, target, suggestion: meant ?? null },
        });
      }
    }
  },
};
