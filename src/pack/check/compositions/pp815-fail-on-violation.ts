// PP815: a switch of validators that no longer does anything.

import { removeAt } from "../../fix/edits.ts";
import { onKey, type Rule } from "../rule.ts";
import { allValidators } from "./eval-list.ts";

export const failOnViolation: Rule = {
  code: "PP815",
  severity: "warning",
  fix: "safe",
  title: "deprecated fail_on_violation",
  explain:
    "Since version 1.7 a validator always enforces: it cuts or replaces the text, whatever " +
    "`fail_on_violation` says. Before, `false` meant to log only, so such packs behave differently now. " +
    "Remove the key; to observe without acting, use an eval, and to switch a validator off, `enabled: " +
    "false`.",
  bad: `
prompts:
  greet:
    id: greet
    name: Greet
    version: 1.0.0
    system_template: Say hello.
    validators:
      - type: max_length
        params: { max_characters: 200 }
        fail_on_violation: true
`,
  good: `
prompts:
  greet:
    id: greet
    name: Greet
    version: 1.0.0
    system_template: Say hello.
    validators:
      - type: max_length
        params: { max_characters: 200 }
`,
  check: (context, report) => {
    for (const { validator, path } of allValidators(context)) {
      const value = validator.fail_on_violation;
      const at = [...path, "fail_on_violation"];
      if (value === undefined || context.isBroken(...at)) continue;
      report({
        at: onKey(...at),
        message: "`fail_on_violation` has no effect",
        why: "validators always enforce; to only observe, use an eval",
        help: "remove it",
        fix: { title: "remove it", edits: removeAt(context.root, context.text, at) },
        data: { type: validator.type, value },
      });
    }
  },
};
