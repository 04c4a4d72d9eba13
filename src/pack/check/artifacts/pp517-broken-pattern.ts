// PP517: the pattern of a variable is not a regular expression.

import { onValue, type Rule } from "../rule.ts";
import { compilePattern } from "./compile-pattern.ts";
import { declaredVariables } from "./variable-list.ts";

export const brokenPattern: Rule = {
  code: "PP517",
  severity: "error",
  title: "pattern is not a regular expression",
  explain:
    "The pattern in a variable's validation does not compile, so no value could ever be held against it. " +
    "Mend the expression; a character that should stand for itself, such as a bracket, needs a backslash " +
    "before it.",
  bad: `
prompts:
  help:
    id: help
    name: Help
    version: 1.0.0
    system_template: "Look up {{id}}."
    variables: [{ name: id, type: string, required: true, validation: { pattern: "^[A-Z+$" } }]
`,
  good: `
prompts:
  help:
    id: help
    name: Help
    version: 1.0.0
    system_template: "Look up {{id}}."
    variables: [{ name: id, type: string, required: true, validation: { pattern: "^[A-Z]+$" } }]
`,
  check: (context, report) => {
    for (const { prompt, variable, path } of declaredVariables(context)) {
      const pattern = variable.validation?.pattern;
      if (pattern === undefined) continue;
      const compiled = compilePattern(pattern);
      if (compiled.ok) continue;
      report({
        at: onValue(...path, "validation", "pattern"),
        message: `pattern of \`${variable.name}\` is not a regular expression`,
        why: `no value can be checked: ${compiled.problem}`,
        help: "fix it",
        data: { variable: variable.name, prompt, pattern, problem: compiled.problem },
      });
    }
  },
};
