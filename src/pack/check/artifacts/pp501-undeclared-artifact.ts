// PP501: a template reads an artifact no state declares.

import { suggest } from "../../../base/suggest.ts";
import { artifactName } from "../../../core/template.ts";
import type { Edit } from "../../diagnostic.ts";
import { type TemplateUse } from "../../template-uses.ts";
import type { CheckContext, Rule } from "../rule.ts";
import { declaredArtifacts } from "./artifact-flow.ts";
import { editInText, placeOfUse } from "./text-map.ts";
import { groupUses, keyInText } from "./use-groups.ts";

export const undeclaredArtifact: Rule = {
  code: "PP501",
  severity: "warning",
  stricter: true,
  fix: "unsafe",
  title: "no state declares the artifact",
  explain:
    "A template may read any artifact that some state of the workflow declares. A name that none declares " +
    "cannot be written either, so its place in the prompt stays empty in every run. Correct the spelling, " +
    "or declare the artifact in the state that produces it.",
  bad: `
prompts:
  code: { id: code, name: Code, version: 1.0.0, system_template: "See {{artifacts.comit_sha}}. Emit Done." }
workflow:
  version: 2
  entry: code
  states:
    code:
      prompt_task: code
      on_event: { Done: finish }
      artifacts: { commit_sha: { type: text/plain } }
    finish: { prompt_task: code, terminal: true, artifacts: { commit_sha: { type: text/plain } } }
`,
  good: `
prompts:
  code: { id: code, name: Code, version: 1.0.0, system_template: "See {{artifacts.commit_sha}}. Emit Done." }
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: "Describe {{artifacts.commit_sha}}." }
workflow:
  version: 2
  entry: code
  states:
    code:
      prompt_task: code
      on_event: { Done: finish }
      artifacts: { commit_sha: { type: text/plain } }
    finish: { prompt_task: sum, terminal: true, artifacts: { commit_sha: { type: text/plain } } }
`,
  check: (context, report) => {
    const declared = declaredArtifacts(context);
    if (declared === undefined) return;
    const groups = groupUses(context.templates, (use) => {
      const name = artifactName(use.hole);
      return name === undefined || declared.has(name) ? undefined : keyInText(use, name);
    });
    for (const group of groups) {
      const [first] = group;
      const name = artifactName(first.hole) ?? "";
      const meant = suggest(name, declared);
      report({
        at: placeOfUse(context, first),
        message: `no state declares artifact \`${name}\``,
        why: "nothing can write it, it is always empty",
        help: "correct the name, or declare it in the state that produces it",
        ...(meant !== undefined && {
          label: `did you mean \`${meant}\`?`,
          fix: { title: `read \`${meant}\``, edits: group.flatMap((use) => renamed(context, use, meant)) },
        }),
        data: { artifact: name, prompt: first.prompt, suggestion: meant ?? null },
      });
    }
  },
};

function renamed(context: CheckContext, use: TemplateUse, name: string): readonly Edit[] {
  const start = use.hole.start + use.hole.raw.indexOf(".") + 1;
  const end = start + (artifactName(use.hole) ?? "").length;
  return editInText(context, use.path, { part: { start, end }, written: name });
}
