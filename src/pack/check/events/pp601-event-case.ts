// PP601: an event is not named in PascalCase.

import type { Edit } from "../../diagnostic.ts";
import { renameKey } from "../../fix/edits.ts";
import { promptTexts } from "../artifacts/prompt-texts.ts";
import { editInText } from "../artifacts/text-map.ts";
import { type CheckContext, onKey, type Rule } from "../rule.ts";
import { mentionsIn } from "./event-mentions.ts";

export const eventCase: Rule = {
  code: "PP601",
  severity: "info",
  convention: true,
  fix: "unsafe",
  title: "event is not PascalCase",
  explain:
    "RFC 0005 names events in PascalCase, which keeps them apart from ordinary words in a prompt. Nothing " +
    "depends on it, so this code is off unless selected. The fix renames the event in every state and " +
    "where it stands as a whole word in the prompts of those states; senders outside the pack must " +
    "follow.",
  bad: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: "Reply with resolved when it is." }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, on_event: { resolved: finish } }
    finish: { prompt_task: work, terminal: true }
`,
  good: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Emit Resolved when it is. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, on_event: { Resolved: finish } }
    finish: { prompt_task: close, terminal: true }
`,
  check: (context, report) => {
    const renames = new Map<string, readonly Edit[]>();
    for (const [state, { on_event = {} }] of Object.entries(context.pack.workflow?.states ?? {})) {
      for (const event of Object.keys(on_event)) {
        if (isPascalCase(event)) continue;
        const name = pascalCase(event);
        if (name !== undefined && !renames.has(event)) renames.set(event, renaming(context, event, name));
        report({
          at: onKey("workflow", "states", state, "on_event", event),
          message: `event \`${event}\` is not PascalCase`,
          why: "RFC 0005 names events so",
          help: name === undefined ? "rename it" : `rename to \`${name}\``,
          ...(name !== undefined && {
            fix: { title: `rename to \`${name}\` everywhere`, edits: renames.get(event) ?? [] },
          }),
          data: { state, event, suggestion: name ?? null },
        });
      }
    }
  },
};

const isPascalCase = (event: string): boolean => /^[A-Z][a-zA-Z0-9]*$/.test(event);

/** What an event is called once all that can be renamed is. */
const afterRenaming = (event: string): string => (isPascalCase(event) ? event : (pascalCase(event) ?? event));

/** `tests_failed` and `tests failed` to `TestsFailed`; undefined where that gives no such name. */
function pascalCase(event: string): string | undefined {
  const words = event.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  const capital = words.map((word) => {
    const rest = word === word.toUpperCase() ? word.slice(1).toLowerCase() : word.slice(1);
    return word.slice(0, 1).toUpperCase() + rest;
  });
  const name = capital.join("");
  return isPascalCase(name) ? name : undefined;
}

/** Renames every use at once, or nothing: half a rename would break the workflow. */
function renaming(context: CheckContext, event: string, name: string): readonly Edit[] {
  const { pack, root, text } = context;
  const edits: Edit[] = [];
  const prompts = new Set<string>();
  for (const [state, { on_event = {}, prompt_task }] of Object.entries(pack.workflow?.states ?? {})) {
    if (!Object.hasOwn(on_event, event)) continue;
    const renamed = renameKey(root, text, ["workflow", "states", state, "on_event", event], name);
    const isTaken = Object.keys(on_event).some((other) => other !== event && afterRenaming(other) === name);
    if (isTaken || renamed.length === 0) return [];
    edits.push(...renamed);
    if (prompt_task !== undefined) prompts.add(prompt_task);
  }
  const texts = new Set([...prompts].flatMap((prompt) => promptTexts(pack).get(prompt) ?? []));
  for (const one of texts) {
    for (const start of mentionsIn(one, event)) {
      const part = { start, end: start + event.length };
      const edit = editInText(context, one.path, { part, written: name });
      if (edit.length === 0) return [];
      edits.push(...edit);
    }
  }
  return edits;
}
