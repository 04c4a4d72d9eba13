// Fragments spelled as other tools spell them: `{{tone}}` and `{{fragment:tone}}` (part of PP513).

import { suggest } from "../../../base/suggest.ts";
import { defaultDelimiters, delimitersOf, type Hole, type Oddity } from "../../../core/template.ts";
import type { TemplateUse } from "../../template-uses.ts";
import type { CheckContext, Report } from "../rule.ts";
import { canInclude } from "./prompt-texts.ts";
import { editInText, placeOfUse } from "./text-map.ts";
import { groupUses, keyInText } from "./use-groups.ts";
import { declaredNames } from "./variable-list.ts";

export function reportFragments(context: CheckContext, report: Report): void {
  const { open, close } = delimitersOf(context.pack.template_engine.syntax) ?? defaultDelimiters;
  const fragments = Object.keys(context.pack.fragments ?? {});
  const isDeclared = declarations(context);
  const groups = groupUses(context.templates, (use) => {
    const name = otherwiseSpelled(context, use.hole);
    if (name === undefined || (use.hole.kind === "hole" && isDeclared(use.prompt, name))) return undefined;
    return keyInText(use, `${use.hole.kind} ${name}`);
  });
  for (const group of groups) {
    const [first] = group;
    const { raw, kind } = first.hole;
    const name = otherwiseSpelled(context, first.hole) ?? "";
    const fragment = context.exists("fragments", name) ? name : (suggest(name, fragments) ?? name);
    const written = `${open}fragments.${fragment}${close}`;
    report({
      at: placeOfUse(context, first),
      message:
        kind === "odd"
          ? `\`${raw}\` is not a placeholder`
          : `\`${raw}\` is read as a variable, not as fragment \`${name}\``,
      why: `the specification writes fragments.${fragment}`,
      help: `write \`${written}\``,
      // The right spelling of a fragment that does not exist, or leads back here, would be an error.
      ...(canInclude(context.pack, first.path, fragment) && {
        fix: { title: `write \`${written}\``, edits: group.flatMap((use) => edited(context, use, written)) },
      }),
      data: { placeholder: raw, fragment, prompt: first.prompt },
    });
  }
}

/** The name of a fragment that is not written `fragments.name`. */
function otherwiseSpelled({ exists }: CheckContext, hole: Hole | Oddity): string | undefined {
  if (hole.kind === "odd") {
    const isPartial = hole.reason === "block" && hole.raw.includes(">");
    return hole.reason === "fragment-colon" || (isPartial && exists("fragments", hole.name))
      ? hole.name
      : undefined;
  }
  const name = hole.path[0] as string;
  return hole.path.length === 1 && exists("fragments", name) ? name : undefined;
}

/** A declared variable wins over a fragment of the same bare name. */
function declarations(context: CheckContext): (prompt: string, name: string) => boolean {
  const byPrompt = new Map<string, ReadonlySet<string> | undefined>();
  return (prompt, name) => {
    if (!byPrompt.has(prompt)) byPrompt.set(prompt, declaredNames(context, prompt));
    return byPrompt.get(prompt)?.has(name) ?? true;
  };
}

function edited(context: CheckContext, { path, hole }: TemplateUse, written: string) {
  const part = { start: hole.start, end: hole.start + hole.raw.length };
  return editInText(context, path, { part, written });
}
