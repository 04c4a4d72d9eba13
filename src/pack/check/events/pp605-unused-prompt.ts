// PP605: a prompt or composition that nothing in the workflow uses.

import { removeAt } from "../../fix/edits.ts";
import { type CheckContext, onKey, type Report, type Rule } from "../rule.ts";
import { namedThings } from "./named-things.ts";

export const unusedPrompt: Rule = {
  code: "PP605",
  severity: "info",
  fix: "unsafe",
  title: "prompt or composition is unused",
  explain:
    "The pack has a workflow, and no state, agent or step names this prompt or composition, so no run " +
    "comes to it. Callers may still choose a prompt by name. Remove it, or use it in a state.",
  bad: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Do the work. }
  classifier: { id: classifier, name: Classifier, version: 1.0.0, system_template: Name the kind. }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, terminal: true }
`,
  good: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Do the work. }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, terminal: true }
`,
  check: (context, report) => {
    if (context.pack.workflow === undefined) return;
    const { prompts, compositions } = namedThings(context);
    reportUnused(context, report, { map: "prompts", noun: "prompt", used: prompts });
    reportUnused(context, report, { map: "compositions", noun: "composition", used: compositions });
  },
};

interface Kind {
  readonly map: "prompts" | "compositions";
  readonly noun: string;
  readonly used: ReadonlySet<string>;
}

function reportUnused(context: CheckContext, report: Report, { map, noun, used }: Kind): void {
  const { pack, exists, root, text } = context;
  // A name that leads nowhere may have meant any of the unused ones.
  if ([...used].some((name) => !exists(map, name))) return;
  const keys = Object.keys(pack[map] ?? {});
  const unused = keys.filter((key) => !used.has(key));
  for (const key of unused) {
    const isLast = unused.length === keys.length;
    report({
      at: onKey(map, key),
      message: `${noun} \`${key}\` is unused`,
      why: map === "prompts" ? "no state, agent or step names it" : "no state names it",
      help: "remove it",
      // A pack without prompts is no pack.
      fix: { title: `remove \`${key}\``, edits: isLast ? [] : removeAt(root, text, [map, key]) },
      data: { [noun]: key },
    });
  }
}
