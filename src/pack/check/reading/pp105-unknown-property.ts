// PP105: a property the schema does not have. Reported by the shape phase.

import type { Rule } from "../rule.ts";

export const unknownProperty: Rule = {
  code: "PP105",
  severity: "error",
  fix: "unsafe",
  title: "unknown property",
  explain:
    "Most objects of a pack have a closed list of properties. One outside it would be ignored, and what " +
    "it was to say would not be in force; usually it is misspelt. It is a warning where `$schema` names a " +
    "version newer than packloop knows (PP108). Correct the name, or move own data under `metadata` or " +
    "`extensions`.",
  bad: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Emit Done or Again. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, on_event: { Done: finish, Again: work }, max_vists: 3, on_max_visits: finish }
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
};
