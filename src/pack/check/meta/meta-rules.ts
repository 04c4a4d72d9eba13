// PP9xx: findings about suppressions, made in suppress.ts.

import type { Rule } from "../rule.ts";

const unusedSuppression: Rule = {
  code: "PP901",
  severity: "warning",
  fix: "safe",
  title: "a suppression silences nothing",
  explain:
    "The comment names a code that is not found on its line, so the reason it gives is about something that is " +
    "gone, or about an error, which cannot be suppressed. Remove it, or the next real finding of that code on " +
    "the line goes unseen.",
  bad: `
# pp-ignore PP303: closing is meant to end the run
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
`,
  good: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
`,
};

const suppressionWithoutReason: Rule = {
  code: "PP902",
  severity: "warning",
  title: "a suppression gives no reason",
  explain:
    "A suppression must say why the finding is fine, after a colon. Without a reason it silences nothing: nobody " +
    "could tell later whether it still holds.",
  bad: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
  spare: { id: other, name: Spare, version: 1.0.0, system_template: Unused. } # pp-ignore PP215
`,
  good: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
  spare: { id: other, name: Spare, version: 1.0.0, system_template: Unused. } # pp-ignore PP215: for clients
`,
};

const unknownCode: Rule = {
  code: "PP903",
  severity: "error",
  title: "a suppression names an unknown code",
  explain:
    "Codes are listed by `packloop explain --list`. A code that does not exist silences nothing, which is never " +
    "what the author wanted.",
  bad: `
# pp-ignore PP999: no such code
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
`,
  good: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
`,
};

export const metaRules: readonly Rule[] = [unusedSuppression, suppressionWithoutReason, unknownCode];
