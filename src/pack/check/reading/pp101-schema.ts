// PP101: the file does not follow the schema. Reported by the shape phase and, for manifests, by the reader.

import type { Rule } from "../rule.ts";

export const schemaViolation: Rule = {
  code: "PP101",
  severity: "error",
  title: "schema is violated",
  explain:
    "A required key is missing, or a value has the wrong type, form or range. Packs are held against the " +
    "newest schema; what older versions allowed stays valid. The part that is wrong is left out, and " +
    "everything else is checked as usual.",
  bad: `
prompts:
  coder: { id: coder, name: Coder, system_template: Write the code. }
`,
  good: `
prompts:
  coder: { id: coder, name: Coder, version: 1.0.0, system_template: Write the code. }
`,
};
