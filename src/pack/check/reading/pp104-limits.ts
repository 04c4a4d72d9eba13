// PP104: the document passes a limit of the reader, which stops there.

import type { Rule } from "../rule.ts";

const levels = 64;

export const overLimit: Rule = {
  code: "PP104",
  severity: "error",
  title: "file is too large or too deep",
  explain:
    "A file may have 5 MB, 64 levels of nesting, 200,000 values and 100 expanded aliases. Beyond that it " +
    "is refused before anything is built from it, so that a small hostile file cannot keep the checker " +
    "busy. Move bulk text out of the pack, or split it.",
  bad: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
metadata:
  notes: ${"[".repeat(levels)}deep${"]".repeat(levels)}
`,
  good: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
metadata:
  notes: [[shallow]]
`,
};
