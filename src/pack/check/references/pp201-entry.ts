// PP201: the workflow begins in a state that does not exist.

import { replaceScalar } from "../../fix/edits.ts";
import { onValue, type Rule } from "../rule.ts";
import { asked, namesAt } from "./known-names.ts";

export const entryState: Rule = {
  code: "PP201",
  severity: "error",
  fix: "unsafe",
  title: "entry is not a state",
  explain:
    "`workflow.entry` names the state in which every run begins, so it must be a key of " +
    "`workflow.states`. Without it a run has nowhere to begin and is refused. Correct the spelling, or " +
    "add the state.",
  bad: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Emit Done when finished. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: wrok
  states:
    work: { prompt_task: work, on_event: { Done: finish } }
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
    const { pack, root, text } = context;
    const states = namesAt(context, "workflow", "states");
    if (pack.workflow === undefined || states === undefined || states.size === 0) return;
    const path = ["workflow", "entry"];
    const { entry } = pack.workflow;
    if (states.has(entry) || context.isBroken(...path)) return;
    const meant = states.guess(entry);
    report({
      at: onValue(...path),
      message: `entry \`${entry}\` is not a state`,
      why: "a run has nowhere to begin",
      help: "name a key of workflow.states, or add the state",
      ...(meant !== undefined && {
        label: asked(meant),
        fix: { title: `begin at \`${meant}\``, edits: replaceScalar(root, text, path, meant) },
      }),
      data: { entry, suggestion: meant ?? null },
    });
  },
};
