// PP102: the file is no YAML or JSON. Reported by the reader, which stops there.

import type { Rule } from "../rule.ts";

export const syntaxError: Rule = {
  code: "PP102",
  severity: "error",
  title: "file cannot be read",
  explain:
    "The text is not valid YAML 1.2 or JSON, or holds something JSON data cannot have: a merge key, a " +
    "tag, an alias without an anchor. Nothing else is checked until it can be read. JSON is read " +
    "strictly, without comments and trailing commas, because other readers of the file refuse them.",
  bad: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: "Say hello. }
`,
  good: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: "Say hello." }
`,
};
