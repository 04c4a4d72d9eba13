// PP509: a template uses a variable its prompt does not declare.

import { toPointer } from "../../../base/json.ts";
import { suggest } from "../../../base/suggest.ts";
import { variableName } from "../../../core/template.ts";
import type { Edit } from "../../diagnostic.ts";
import { type TemplateUse } from "../../template-uses.ts";
import type { CheckContext, Rule } from "../rule.ts";
import { declaredArtifacts } from "./artifact-flow.ts";
import { promptsOfSteps } from "./composition-steps.ts";
import { isBlockWord, textsWithBlocks } from "./foreign-syntax.ts";
import { canInclude } from "./prompt-texts.ts";
import { editInText, placeOfUse } from "./text-map.ts";
import { groupUses } from "./use-groups.ts";
import { declaredNames } from "./variable-list.ts";

export const undeclaredVariable: Rule = {
  code: "PP509",
  severity: "warning",
  stricter: true,
  fix: "unsafe",
  title: "variable is not declared by its prompt",
  explain:
    "Each prompt declares the variables its templates use, those inside fragments included. Nothing fills " +
    "an undeclared one, so its place stays empty. The runtime supplies `artifacts.*`, `fragments.*` and " +
    "`workflow_context`, and `input` to prompts that run as a composition step. Declare the variable, or " +
    "read the artifact that holds the value.",
  bad: `
prompts:
  coder: { id: coder, name: Coder, version: 1.0.0, system_template: "Follow the plan: {{plan}}" }
`,
  good: `
prompts:
  coder:
    id: coder
    name: Coder
    version: 1.0.0
    system_template: "Follow the plan: {{plan}}"
    variables: [{ name: plan, type: string, required: true }]
`,
  check: (context, report) => {
    const names = new Names(context);
    const groups = groupUses(context.templates, (use) => {
      const name = variableName(use.hole);
      return name === undefined || names.isSupplied(use, name) ? undefined : `${name}\n${use.prompt}`;
    });
    for (const group of groups) {
      const [first] = group;
      const name = variableName(first.hole) ?? "";
      const { prompt } = first;
      const meant = names.meant(first, name);
      report({
        at: placeOfUse(context, first),
        message: `\`${name}\` is not declared by prompt \`${prompt}\``,
        why: "nothing supplies it",
        help: names.help(first, name),
        ...(meant !== undefined && {
          label: `did you mean \`${meant}\`?`,
          fix: { title: `use \`${meant}\``, edits: group.flatMap((use) => renamed(context, use, meant)) },
        }),
        data: { variable: name, prompt, suggestion: meant ?? null },
      });
    }
  },
};

/** Replaces the first part of the placeholder's path; not by a fragment that cannot be included. */
function renamed(context: CheckContext, { path, hole }: TemplateUse, written: string): readonly Edit[] {
  const name = variableName(hole) ?? "";
  const second = hole.kind === "hole" ? String(hole.path[1]) : "";
  if (written === "fragments" && !canInclude(context.pack, path, second)) return [];
  const start = hole.start + hole.raw.indexOf(name);
  return editInText(context, path, { part: { start, end: start + name.length }, written });
}

/** What is known about names: who declares them and what they may have meant. */
class Names {
  readonly #context: CheckContext;
  readonly #steps: ReadonlySet<string>;
  readonly #artifacts: ReadonlySet<string>;
  readonly #declared = new Map<string, ReadonlySet<string> | undefined>();
  readonly #declaredBy = new Map<string, string>();

  constructor(context: CheckContext) {
    this.#context = context;
    this.#steps = promptsOfSteps(context.pack);
    this.#artifacts = declaredArtifacts(context) ?? new Set();
    for (const prompt of Object.keys(context.pack.prompts)) {
      const declared = declaredNames(context, prompt);
      this.#declared.set(prompt, declared);
      for (const name of declared ?? []) if (!this.#declaredBy.has(name)) this.#declaredBy.set(name, prompt);
    }
  }

  isSupplied({ prompt, hole, path }: TemplateUse, name: string): boolean {
    const declared = this.#declared.get(prompt);
    if (declared === undefined || declared.has(name)) return true;
    if (name === "input" && this.#steps.has(prompt)) return true;
    const isBare = hole.kind === "hole" && hole.path.length === 1;
    // A fragment by its bare name is PP513, and so are the words of a block.
    if (isBare && this.#context.exists("fragments", name)) return true;
    return isBare && isBlockWord(name) && textsWithBlocks(this.#context.pack).has(toPointer(path));
  }

  meant({ prompt, hole }: Pick<TemplateUse, "prompt" | "hole">, name: string): string | undefined {
    if (this.#artifacts.has(name)) return `artifacts.${name}`;
    const isDeep = hole.kind === "hole" && hole.path.length > 1;
    const supplied = isDeep ? ["artifacts", "fragments"] : ["workflow_context"];
    return suggest(name, [...(this.#declared.get(prompt) ?? []), ...supplied]);
  }

  help({ prompt, hole }: TemplateUse, name: string): string {
    const meant = this.meant({ prompt, hole }, name);
    if (meant === "artifacts" || meant === "fragments")
      return `write \`${meant}.${hole.kind === "hole" ? hole.path[1] : ""}\``;
    const elsewhere = this.#declaredBy.get(name);
    const declare = elsewhere === undefined ? "declare it" : `declare it as \`${elsewhere}\` does`;
    if (meant !== undefined && !this.#artifacts.has(name)) return `correct the name, or ${declare}`;
    if (this.#context.pack.workflow !== undefined) return `${declare}, or use \`artifacts.${name}\``;
    return elsewhere === undefined ? "declare it in `variables`" : declare;
  }
}
