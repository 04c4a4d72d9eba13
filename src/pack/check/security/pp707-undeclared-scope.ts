// PP707: neither the pack nor the configuration says what a tool may do.

import { onKey, type Rule } from "../rule.ts";
import { bindingOf } from "./tool-classes.ts";

export const undeclaredScope: Rule = {
  code: "PP707",
  severity: "info",
  convention: true,
  title: "tool without action_scope and binding",
  explain:
    "Without an `action_scope` and without a binding nothing tells reading from writing, so the rules " +
    "about approvals and untrusted text pass over the tool. Declare at least its `effect`.",
  bad: `
prompts:
  fix: { id: fix, name: Fix, version: 1.0.0, system_template: Change what is needed., tools: [apply_config] }
tools:
  apply_config: { name: apply_config, description: Changes a setting }
`,
  good: `
prompts:
  look: { id: look, name: Look, version: 1.0.0, system_template: Say what is set., tools: [read_config] }
tools:
  read_config: { name: read_config, description: Reads a setting, action_scope: { effect: read } }
`,
  check: (context, report) => {
    for (const [key, tool] of Object.entries(context.pack.tools ?? {})) {
      if (context.exists("tools", key, "action_scope") || bindingOf(context, key) !== undefined) continue;
      if (Object.keys(tool.action_scope ?? {}).length > 0) continue;
      report({
        at: onKey("tools", key),
        message: `nothing says what \`${key}\` may change`,
        why: "flow rules cannot judge it",
        help: "add `action_scope`",
        data: { tool: key },
      });
    }
  },
};
