// PP508: a variable every run must be given.

import type { Analysis } from "../../flow/analysis.ts";
import { type CheckContext, onValue, type Rule } from "../rule.ts";
import { promptsOfState } from "./artifact-flow.ts";
import { declaredVariables } from "./variable-list.ts";

export const neededAtStart: Rule = {
  code: "PP508",
  severity: "info",
  convention: true,
  title: "variable must be given at start",
  explain:
    "A required variable without a default or binding, in a prompt that a run can reach, must be given " +
    "when the run starts; all such variables are asked for at once and nothing starts without them. " +
    "Select this code for packs that must run without arguments. Give the variable a default or a " +
    "binding, or pass it.",
  bad: `
prompts:
  help:
    id: help
    name: Help
    version: 1.0.0
    system_template: "Look into {{alert}}."
    variables: [{ name: alert, type: string, required: true }]
`,
  good: `
prompts:
  help:
    id: help
    name: Help
    version: 1.0.0
    system_template: "Look into {{alert}}."
    variables: [{ name: alert, type: string, required: false, default: nothing in particular }]
`,
  check: (context, report) => {
    const prompts = promptsOfRuns(context);
    const seen = new Set<string>();
    for (const { prompt, variable, path } of declaredVariables(context)) {
      const { name } = variable;
      if (!variable.required || variable.default !== undefined || variable.binding !== undefined) continue;
      if (!prompts.has(prompt) || seen.has(name)) continue;
      seen.add(name);
      report({
        at: onValue(...path, "name"),
        message: `\`${name}\` must be given at start`,
        why: "a run without it is refused",
        help: `give a default, or pass \`--var ${name}=…\``,
        data: { variable: name, prompt },
      });
    }
  },
};

/**
 * Prompts a run from the entry can come to. Without a workflow it is the agents' entry, or any prompt
 * (S5).
 */
function promptsOfRuns(context: CheckContext): ReadonlySet<string> {
  const { pack, flow, analyses } = context;
  if (pack.workflow === undefined) {
    return new Set(pack.agents === undefined ? Object.keys(pack.prompts) : [pack.agents.entry]);
  }
  const fromEntry: Analysis | undefined = analyses.find(({ start }) => start === flow.entry);
  const prompts = new Set<string>();
  for (const [index, state] of Object.values(pack.workflow.states).entries()) {
    if (fromEntry?.reachable.has(index) !== true) continue;
    for (const prompt of promptsOfState(context, state)) prompts.add(prompt);
  }
  return prompts;
}
