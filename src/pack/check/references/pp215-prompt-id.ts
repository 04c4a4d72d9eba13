// PP215: a prompt is known by its key and calls itself something else.

import { replaceScalar } from "../../fix/edits.ts";
import { onValue, type Rule } from "../rule.ts";

/** What the schema lets an id be; a key may be anything. */
const ID = /^[a-z][a-z0-9_-]*$/;

export const promptId: Rule = {
  code: "PP215",
  severity: "info",
  fix: "unsafe",
  title: "prompt key differs from its id",
  explain:
    "States, steps and agents refer to a prompt by its key under `prompts`; `id` is only shown. When the " +
    "two differ, a reader looks for the wrong name. Make them equal.",
  bad: `
prompts:
  coder: { id: writer, name: Coder, version: 1.0.0, system_template: Write the code. }
`,
  good: `
prompts:
  coder: { id: coder, name: Coder, version: 1.0.0, system_template: Write the code. }
`,
  check: ({ pack, root, text, isBroken }, report) => {
    for (const [key, { id }] of Object.entries(pack.prompts)) {
      const path = ["prompts", key, "id"];
      if (id === key || isBroken(...path)) continue;
      report({
        at: onValue(...path),
        message: `prompt \`${key}\` calls itself \`${id}\``,
        why: "references use the key",
        help: "make them equal",
        ...(ID.test(key) && {
          fix: { title: `set the id to \`${key}\``, edits: replaceScalar(root, text, path, key) },
        }),
        data: { prompt: key, id },
      });
    }
  },
};
