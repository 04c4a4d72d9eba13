// PP510: a prompt declares a variable that none of its templates uses.

import { isObject, type Json } from "../../../base/json.ts";
import { defaultDelimiters, delimitersOf, variableName } from "../../../core/template.ts";
import { removeAt } from "../../fix/edits.ts";
import { type CheckContext, onValue, type Rule } from "../rule.ts";
import { blocksIn, foreignPlaceholders } from "./foreign-syntax.ts";
import { promptTexts } from "./prompt-texts.ts";
import { declaredVariables } from "./variable-list.ts";

export const unusedVariable: Rule = {
  code: "PP510",
  severity: "info",
  fix: "safe",
  title: "variable is not used",
  explain:
    "No template of the prompt, fragments and model overrides included, mentions the variable, so its " +
    "value reaches nobody. A required one still has to be given by every caller. Remove the declaration, " +
    "or use the variable.",
  bad: `
prompts:
  help:
    id: help
    name: Help
    version: 1.0.0
    system_template: "Answer in {{lang}}."
    variables:
      - { name: lang, type: string, required: true }
      - { name: customer_tier, type: string, required: false }
`,
  good: `
prompts:
  help:
    id: help
    name: Help
    version: 1.0.0
    system_template: "Answer in {{lang}}."
    variables:
      - { name: lang, type: string, required: true }
`,
  check: (context, report) => {
    const used = usedNames(context);
    for (const { prompt, variable, path } of declaredVariables(context)) {
      const { name, required } = variable;
      if (used.get(prompt)?.has(name) === true || otherWords(context, prompt).has(name)) continue;
      report({
        at: onValue(...path, "name"),
        message: `\`${name}\` is not used`,
        why: "no template of the prompt mentions it",
        help: "remove it",
        fix: {
          title: `remove \`${name}\``,
          edits: removeAt(context.root, context.text, path),
          unsafe: required,
        },
        data: { variable: name, prompt, required },
      });
    }
  },
};

function usedNames({ templates }: CheckContext): ReadonlyMap<string, ReadonlySet<string>> {
  const byPrompt = new Map<string, Set<string>>();
  for (const { prompt, hole } of templates) {
    const name = variableName(hole);
    if (name === undefined) continue;
    const names = byPrompt.get(prompt) ?? new Set();
    names.add(name);
    byPrompt.set(prompt, names);
  }
  return byPrompt;
}

const known = new WeakMap<CheckContext, Map<string, ReadonlySet<string>>>();

/**
 * Words of what was meant as a use: mistaken placeholders, which have their own findings, and the settings of
 * checks, where a condition may name a variable.
 */
function otherWords(context: CheckContext, prompt: string): ReadonlySet<string> {
  const byPrompt = known.get(context) ?? new Map<string, ReadonlySet<string>>();
  known.set(context, byPrompt);
  const before = byPrompt.get(prompt);
  if (before !== undefined) return before;
  const words = new Set<string>();
  const add = (text: string) => {
    for (const [word] of text.matchAll(/\w+/g)) words.add(word);
  };
  const delimiters = delimitersOf(context.pack.template_engine.syntax) ?? defaultDelimiters;
  for (const { text, pieces } of promptTexts(context.pack).get(prompt) ?? []) {
    for (const piece of pieces) if (piece.kind === "odd") add(piece.raw);
    for (const piece of [...blocksIn(text), ...foreignPlaceholders(text, delimiters)]) add(piece.raw);
  }
  const { evals, validators } = context.pack.prompts[prompt] ?? {};
  addTexts([context.pack.evals, evals, validators] as unknown as Json, add);
  byPrompt.set(prompt, words);
  return words;
}

function addTexts(value: Json | undefined, add: (text: string) => void): void {
  if (typeof value === "string") add(value);
  else if (Array.isArray(value)) for (const item of value as readonly Json[]) addTexts(item, add);
  else if (isObject(value)) for (const item of Object.values(value)) addTexts(item, add);
}
