// PP518: a state reads an artifact that only other states declare (RFC 0009, validation rule 4).

import { onKey, type Rule } from "../rule.ts";
import { artifactFlow, foreignReads } from "./artifact-flow.ts";
import { placeOfUse } from "./text-map.ts";

export const undeclaredRead: Rule = {
  code: "PP518",
  severity: "info",
  stricter: true,
  title: "state reads an artifact it does not declare",
  explain:
    "RFC 0009 asks that a state declares the artifacts its prompt reads. The value is there all the same, " +
    "since the whole workflow shares it; the declaration tells readers and tools what flows through the " +
    "state. Repeat the declaration of the other state here.",
  bad: `
prompts:
  code: { id: code, name: Code, version: 1.0.0, system_template: Write code. Emit CodeReady. }
  review: { id: review, name: Review, version: 1.0.0, system_template: "Review {{artifacts.commit_sha}}." }
workflow:
  version: 2
  entry: code
  states:
    code:
      prompt_task: code
      on_event: { CodeReady: review }
      artifacts: { commit_sha: { type: text/plain } }
    review: { prompt_task: review, terminal: true }
`,
  good: `
prompts:
  code: { id: code, name: Code, version: 1.0.0, system_template: Write code. Emit CodeReady. }
  review: { id: review, name: Review, version: 1.0.0, system_template: "Review {{artifacts.commit_sha}}." }
workflow:
  version: 2
  entry: code
  states:
    code:
      prompt_task: code
      on_event: { CodeReady: review }
      artifacts: { commit_sha: { type: text/plain } }
    review: { prompt_task: review, terminal: true, artifacts: { commit_sha: { type: text/plain } } }
`,
  check: (context, report) => {
    const { declarations } = artifactFlow(context);
    for (const { state, artifact, use } of foreignReads(context)) {
      const declared = declarations.get(artifact)?.[0];
      if (declared === undefined || context.isBroken("workflow", "states", state)) continue;
      report({
        at: onKey("workflow", "states", state),
        message: `\`${state}\` reads \`${artifact}\` without declaring it`,
        why:
          "the declaration documents what flows through a state; " +
          "the value itself is shared by the whole workflow",
        help: "declare it here too",
        related: [
          { at: placeOfUse(context, use), message: `\`${artifact}\` is read here` },
          { at: onKey(...declared.path), message: `\`${declared.state}\` declares it` },
        ],
        data: { state, artifact, prompt: use.prompt, declared_by: declared.state },
      });
    }
  },
};
