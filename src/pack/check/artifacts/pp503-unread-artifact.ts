// PP503: an artifact is declared and nothing reads it.

import { isObject, type Json } from "../../../base/json.ts";
import type { CheckContext, Rule } from "../rule.ts";
import { onKey } from "../rule.ts";
import { artifactFlow } from "./artifact-flow.ts";
import { promptTexts } from "./prompt-texts.ts";

export const unreadArtifact: Rule = {
  code: "PP503",
  severity: "info",
  title: "artifact is never read",
  explain:
    "No template, variable binding or output setting of the pack reads this artifact, so no model ever " +
    "sees it. Artifacts of a terminal state are taken to be the result of the run and are not reported. " +
    "Use the artifact in a prompt, or drop the declaration.",
  bad: `
prompts:
  look: { id: look, name: Look, version: 1.0.0, system_template: Search. Emit Found. }
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: Write the report. }
workflow:
  version: 2
  entry: look
  states:
    look: { prompt_task: look, on_event: { Found: sum }, artifacts: { findings: { type: text/plain } } }
    sum: { prompt_task: sum, terminal: true }
`,
  good: `
prompts:
  look: { id: look, name: Look, version: 1.0.0, system_template: Search. Emit Found. }
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: "Write the report: {{artifacts.findings}}" }
workflow:
  version: 2
  entry: look
  states:
    look: { prompt_task: look, on_event: { Found: sum }, artifacts: { findings: { type: text/plain } } }
    sum: { prompt_task: sum, terminal: true }
`,
  check: (context, report) => {
    const { declarations } = artifactFlow(context);
    if (declarations.size === 0) return;
    const read = readNames(context);
    for (const [name, [first, ...more]] of declarations) {
      if (first === undefined || read.has(name)) continue;
      report({
        at: onKey(...first.path),
        message: `artifact \`${name}\` is never read`,
        why: "it only appears in the trace and in the run's output",
        help: "use it, or drop it",
        data: { artifact: name, states: [first, ...more].map(({ state }) => state) },
      });
    }
  },
};

const MENTION = /artifacts\.([A-Za-z0-9_-]+)/g;

/** Every spelling of a read counts: a template in another syntax has its own finding. */
function readNames(context: CheckContext): ReadonlySet<string> {
  const { pack, program } = context;
  const names = new Set<string>();
  const scan = (text: string) => {
    for (const match of text.matchAll(MENTION)) names.add(match[1] as string);
  };
  for (const texts of promptTexts(pack).values()) for (const { text } of texts) scan(text);
  for (const { variables = [] } of Object.values(pack.prompts)) {
    for (const { binding } of variables) {
      const field = binding?.field ?? "";
      names.add(field.replace(/^artifacts\./, ""));
    }
  }
  const { result_bindings: _written, ...engine } = pack.workflow?.engine ?? {};
  for (const text of textsIn(engine as Json)) names.add(text.replace(/^artifacts\./, ""));
  for (const composition of Object.values(program.compositions))
    for (const text of textsIn(composition)) scan(text);
  for (const state of Object.values(program.workflow?.states ?? {})) {
    if (state.terminal) for (const name of Object.keys(state.artifacts)) names.add(name);
  }
  return names;
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap((item: Json) => textsIn(item));
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
