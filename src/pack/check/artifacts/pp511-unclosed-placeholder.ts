// PP511: a placeholder is opened and not closed on its line.

import type { Path } from "../../../base/json.ts";
import type { Edit } from "../../diagnostic.ts";
import { nodeAt } from "../../read/tree.ts";
import type { CheckContext, Rule } from "../rule.ts";
import { canInclude } from "./prompt-texts.ts";
import { editInText, placeInText } from "./text-map.ts";
import { groupUses, keyInText } from "./use-groups.ts";

export const unclosedPlaceholder: Rule = {
  code: "PP511",
  severity: "warning",
  fix: "unsafe",
  title: "placeholder is not closed",
  explain:
    "Two opening braces and a name begin a placeholder, and it must end with two closing braces on the " +
    "same line. Without them the braces and the name are sent to the model as they stand. Braces around " +
    "anything else are ordinary text.",
  bad: `
prompts:
  coder:
    id: coder
    name: Coder
    version: 1.0.0
    system_template: "Follow {{plan} and report."
`,
  good: `
prompts:
  coder:
    id: coder
    name: Coder
    version: 1.0.0
    system_template: "Follow {{plan}} and report."
    variables: [{ name: plan, type: string, required: true }]
`,
  check: (context, report) => {
    const groups = groupUses(context.templates, (use) =>
      use.hole.kind === "odd" && use.hole.reason === "unclosed"
        ? keyInText(use, String(use.hole.start))
        : undefined,
    );
    for (const [{ path, hole, prompt }] of groups) {
      const opened = openedPart(hole.raw);
      const end = hole.start + opened.length;
      report({
        at: placeInText(context, path, { start: hole.start, end }),
        message: `placeholder \`${opened}\` is not closed`,
        why: "it is sent as text",
        help: "add `}}`",
        fix: { title: "close it", edits: closed(context, path, { raw: opened, end }) },
        data: { placeholder: opened, prompt },
      });
    }
  },
};

/** Without the full stop or dash behind the name, which belongs to the sentence. */
const openedPart = (raw: string): string => /^\{\{\s*[\w.-]*\w/.exec(raw)?.[0] ?? raw;

/** Puts the braces behind the name, in place of a single one that stands there. */
function closed(context: CheckContext, path: Path, opened: { raw: string; end: number }): readonly Edit[] {
  const { raw, end } = opened;
  const fragment = /^\{\{\s*fragments\.([\w-]+)/.exec(raw)?.[1];
  if (fragment !== undefined && !canInclude(context.pack, path, fragment)) return [];
  const node = nodeAt(context.root, path);
  const text = node?.kind === "scalar" ? String(node.value) : "";
  const brace = /^[ \t]*\}/.exec(text.slice(end, end + 80))?.[0].length ?? 0;
  // The last letter is written again: a part to be replaced must not be empty.
  const part = { start: end - 1, end: end + brace };
  return editInText(context, path, { part, written: `${raw.slice(-1)}}}` });
}
