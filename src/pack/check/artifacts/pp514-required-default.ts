// PP514: a variable is required and has a default.

import { onKey, type Rule } from "../rule.ts";
import { declaredVariables } from "./variable-list.ts";

export const requiredDefault: Rule = {
  code: "PP514",
  severity: "warning",
  title: "required variable has a default",
  explain:
    "The two contradict each other: a required value must be given, a default applies when it is not. " +
    "packloop lets the default apply; the prose of the specification forbids the combination and other " +
    "readers may refuse the pack. Drop the default, or set `required: false`.",
  bad: `
prompts:
  help:
    id: help
    name: Help
    version: 1.0.0
    system_template: "Answer in {{lang}}."
    variables: [{ name: lang, type: string, required: true, default: en }]
`,
  good: `
prompts:
  help:
    id: help
    name: Help
    version: 1.0.0
    system_template: "Answer in {{lang}}."
    variables: [{ name: lang, type: string, required: false, default: en }]
`,
  check: (context, report) => {
    for (const { prompt, variable, path } of declaredVariables(context)) {
      if (!variable.required || variable.default === undefined) continue;
      report({
        at: onKey(...path, "default"),
        message: `\`${variable.name}\` is required and has a default`,
        why: "the default applies; other readers refuse the pack",
        help: "drop one of the two",
        data: { variable: variable.name, prompt },
      });
    }
  },
};
