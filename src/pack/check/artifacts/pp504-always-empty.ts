// PP504: an artifact whose writers are all unreachable.

import { onKey, type Rule } from "../rule.ts";
import { listed } from "../wording.ts";
import { artifactFlow, unreachableWriters } from "./artifact-flow.ts";

export const alwaysEmpty: Rule = {
  code: "PP504",
  severity: "warning",
  title: "artifact is always empty",
  explain:
    "Every state that is meant to write this artifact is unreachable, so it stays empty in all runs and " +
    "templates that read it show nothing. Declare it in the state that really produces it, or make the " +
    "writer reachable.",
  bad: `
prompts:
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: "Sum up: {{artifacts.notes}}" }
workflow:
  version: 2
  entry: sum
  states:
    sum: { prompt_task: sum, terminal: true }
    collect: { prompt_task: sum, on_event: { Done: sum }, artifacts: { notes: { type: text/plain } } }
`,
  good: `
prompts:
  collect: { id: collect, name: Collect, version: 1.0.0, system_template: Collect. Emit Done. }
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: "Sum up: {{artifacts.notes}}" }
workflow:
  version: 2
  entry: collect
  states:
    collect: { prompt_task: collect, on_event: { Done: sum }, artifacts: { notes: { type: text/plain } } }
    sum: { prompt_task: sum, terminal: true }
`,
  check: (context, report) => {
    for (const [name, [first]] of artifactFlow(context).declarations) {
      const writers = unreachableWriters(context, name);
      if (first === undefined || writers === undefined) continue;
      report({
        at: onKey(...first.path),
        message: `\`${name}\` is always empty`,
        why:
          writers.length === 1
            ? `its only writer ${listed(writers)} is unreachable`
            : `its writers ${listed(writers)} are unreachable`,
        help: "declare it where it is produced",
        data: { artifact: name, writers },
      });
    }
  },
};
