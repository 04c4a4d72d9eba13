// PP107: a name written so that other YAML readers see no text.

import type { Rule } from "../rule.ts";
import { namePlaces } from "./name-places.ts";
import { readElsewhereAs } from "./yaml-traps.ts";

export const yamlTrap: Rule = {
  code: "PP107",
  severity: "warning",
  fix: "safe",
  title: "unquoted name other readers misread",
  explain:
    "YAML 1.1 readers take `yes`, `no`, `on`, `off`, `y`, `n` for booleans and `012` for an octal number, " +
    "and readers differ about `null`, `~` and `1e3` as keys. An event called `no` then becomes `false` " +
    "and is lost. packloop reads YAML 1.2 and keeps the text; quote the name so that everybody does.",
  bad: `
prompts:
  ask: { id: ask, name: Ask, version: 1.0.0, system_template: Emit yes or no. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: ask
  states:
    ask: { prompt_task: ask, on_event: { yes: finish, no: ask }, max_visits: 3, on_max_visits: finish }
    finish: { prompt_task: close, terminal: true }
  engine: { budget: { max_total_visits: 5 } }
`,
  good: `
prompts:
  ask: { id: ask, name: Ask, version: 1.0.0, system_template: Emit yes or no. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: ask
  states:
    ask: { prompt_task: ask, on_event: { "yes": finish, "no": ask }, max_visits: 3, on_max_visits: finish }
    finish: { prompt_task: close, terminal: true }
  engine: { budget: { max_total_visits: 5 } }
`,
  check: ({ root, text }, report) => {
    for (const { noun, name, style, span, path, on } of namePlaces(root)) {
      const seen = style === "plain" ? readElsewhereAs(name) : undefined;
      if (seen === undefined || isTagged(text, span.start)) continue;
      report({
        at: { path, on, within: span },
        message: `${noun} \`${name}\` is unquoted`,
        why: `other readers see ${seen}`,
        help: "quote it",
        fix: { title: "quote it", edits: [{ ...span, text: JSON.stringify(name) }] },
        data: { name, noun, seen },
      });
    }
  },
};

/** `!!str no` says what it is to every reader. */
const isTagged = (text: string, start: number): boolean =>
  /!\S+\s+$/.test(text.slice(Math.max(0, start - 60), start));
