// PP309: an external state that waits, with nothing to end the wait.

import { onKey, type Rule } from "../rule.ts";

export const endlessWait: Rule = {
  code: "PP309",
  severity: "info",
  convention: true,
  title: "external state waits without limit",
  explain:
    "A run in an external state waits for an event from outside. If nobody answers, it waits for ever: " +
    "nothing in the pack wakes it. `waits.expire_after` in `packloop.yaml` ends such waits.",
  bad: `
workflow:
  version: 2
  entry: await_approval
  states:
    await_approval: { prompt_task: p, orchestration: external, on_event: { Approved: done } }
    done: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: review
  states:
    review: { prompt_task: p, on_event: { Approved: done } }
    done: { prompt_task: p, terminal: true }
`,
  check: ({ flow, config }, report) => {
    if (config.waitExpires) return;
    for (const state of flow.states) {
      if (!state.external || state.terminal) continue;
      report({
        at: onKey("workflow", "states", state.name),
        message: `\`${state.name}\` waits without limit`,
        why: "nothing wakes the run if nobody answers",
        help: "set `waits.expire_after` in `packloop.yaml`",
        data: { state: state.name },
      });
    }
  },
};
