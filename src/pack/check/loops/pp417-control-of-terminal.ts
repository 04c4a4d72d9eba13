// PP417: `control: agent` on a terminal state.

import { removeAt } from "../../fix/edits.ts";
import { onKey, type Rule } from "../rule.ts";

export const controlOfTerminal: Rule = {
  code: "PP417",
  severity: "warning",
  fix: "safe",
  title: "control on a terminal state has no effect",
  explain:
    "`control: agent` lets a conversation run on through a state. A terminal state ends the run after its " +
    "prompt, so there is nothing to run on to. Remove `control`, or add the events that were meant to " +
    "follow.",
  bad: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Done: done } }
    done: { prompt_task: p, terminal: true, control: agent }
`,
  good: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Done: done } }
    done: { prompt_task: p, terminal: true }
`,
  check: ({ pack, program, damagedStates, root, text }, report) => {
    for (const [name, state] of Object.entries(pack.workflow?.states ?? {})) {
      if (state.control !== "agent" || damagedStates.has(name)) continue;
      if (program.workflow?.states[name]?.terminal !== true) continue;
      const path = ["workflow", "states", name, "control"];
      report({
        at: onKey(...path),
        message: `\`control\` of \`${name}\` has no effect`,
        why: "a terminal state ends the run",
        help: "remove it",
        fix: { title: "remove `control`", edits: removeAt(root, text, path) },
        data: { state: name },
      });
    }
  },
};
