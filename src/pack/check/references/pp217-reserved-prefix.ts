// PP217: a tool or agent has a name the runtime keeps for itself.

import { onKey, type Rule } from "../rule.ts";
import { namesAt } from "./known-names.ts";

const RESERVED = /^(?:workflow|skill|a2a)__/;

export const reservedPrefix: Rule = {
  code: "PP217",
  severity: "warning",
  title: "name has a reserved prefix",
  explain:
    "Names that begin with `workflow__`, `skill__` or `a2a__` belong to the runtime: it offers such tools " +
    "itself and answers their calls. A tool or agent of the pack with such a name may never be called, or " +
    "hide one the runtime needs. Rename it.",
  bad: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Go on., tools: [workflow__next] }
tools:
  workflow__next: { name: workflow__next, description: Goes on. }
`,
  good: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Go on., tools: [next_page] }
tools:
  next_page: { name: next_page, description: Goes on. }
`,
  check: (context, report) => {
    for (const path of [["tools"], ["agents", "members"]]) {
      for (const name of namesAt(context, ...path) ?? []) {
        const prefix = RESERVED.exec(name)?.[0];
        if (prefix === undefined) continue;
        report({
          at: onKey(...path, name),
          message: `\`${name}\` uses a reserved prefix`,
          why: `the runtime answers calls to \`${prefix}…\` itself`,
          help: "rename it",
          data: { name, prefix },
        });
      }
    }
  },
};
