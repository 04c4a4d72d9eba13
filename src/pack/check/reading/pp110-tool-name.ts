// PP110: a tool's label that the published schema refuses.

import { replaceScalar } from "../../fix/edits.ts";
import { onValue, type Rule } from "../rule.ts";

const NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

export const toolName: Rule = {
  code: "PP110",
  severity: "warning",
  fix: "safe",
  title: "tool name other readers refuse",
  explain:
    "A tool is known by its key; `name` is a label, and models never see it. The published schema lets it " +
    "hold letters, digits and underscores only, so a reader that follows it refuses the pack. Set the " +
    "name to the key.",
  bad: `
prompts:
  test: { id: test, name: Test, version: 1.0.0, system_template: Run the tests., tools: [run_tests] }
tools:
  run_tests: { name: Run Tests, description: Runs the tests. }
`,
  good: `
prompts:
  test: { id: test, name: Test, version: 1.0.0, system_template: Run the tests., tools: [run_tests] }
tools:
  run_tests: { name: run_tests, description: Runs the tests. }
`,
  check: ({ pack, root, text, isBroken }, report) => {
    for (const [key, { name }] of Object.entries(pack.tools ?? {})) {
      const path = ["tools", key, "name"];
      if (NAME.test(name) || isBroken(...path)) continue;
      const isNameable = NAME.test(key);
      report({
        at: onValue(...path),
        message: `tool \`${key}\` is named \`${name}\``,
        why: "the key is what models call; other readers refuse the name",
        help: isNameable ? "set it to the key" : "use letters, digits and underscores",
        ...(isNameable && {
          fix: { title: `set it to \`${key}\``, edits: replaceScalar(root, text, path, key) },
        }),
        data: { tool: key, name },
      });
    }
  },
};
