// PP109: a workflow of a version whose rules are not known.

import { onValue, type Rule } from "../rule.ts";

const NEWEST = 2;

export const workflowVersion: Rule = {
  code: "PP109",
  severity: "error",
  title: "workflow version is not supported",
  explain:
    "`workflow.version` is the least runtime version a workflow needs. Versions 1 and 2 are defined; what " +
    "a higher one changes is unknown, so running it could do something else than its author meant. Use 1 " +
    "or 2.",
  bad: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Go on. }
workflow:
  version: 3
  entry: work
  states:
    work: { prompt_task: work, terminal: true }
`,
  good: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Go on. }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, terminal: true }
`,
  check: ({ pack }, report) => {
    const version = pack.workflow?.version ?? NEWEST;
    if (version <= NEWEST) return;
    report({
      at: onValue("workflow", "version"),
      message: `workflow version ${version} is not supported`,
      why: "its rules are unknown",
      help: "use 1 or 2",
      data: { version },
    });
  },
};
