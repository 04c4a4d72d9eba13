// PP211: a state names a composition that does not exist, or has no use for one.

import { removeAt, replaceScalar } from "../../fix/edits.ts";
import { type CheckContext, onKey, onValue, type Report, type Rule } from "../rule.ts";
import { asked, type KnownNames, namesAt } from "./known-names.ts";

export const stateComposition: Rule = {
  code: "PP211",
  severity: "error",
  fix: "unsafe",
  title: "composition of a state does not fit",
  explain:
    "A state with `orchestration: composition` runs the steps of the composition it names, which must be " +
    "a key of `compositions`. On any other state `composition` is forbidden: the prompt runs and the " +
    "steps never do. Correct the name, set `orchestration: composition`, or remove the key.",
  bad: `
prompts:
  read: { id: read, name: Read, version: 1.0.0, system_template: Read the letter. }
workflow:
  version: 2
  entry: intake
  states:
    intake: { orchestration: composition, composition: analyse, terminal: true }
compositions:
  analyze:
    version: 1
    steps: [{ id: read, kind: prompt, prompt_task: read }]
`,
  good: `
prompts:
  read: { id: read, name: Read, version: 1.0.0, system_template: Read the letter. }
workflow:
  version: 2
  entry: intake
  states:
    intake: { orchestration: composition, composition: analyze, terminal: true }
compositions:
  analyze:
    version: 1
    steps: [{ id: read, kind: prompt, prompt_task: read }]
`,
  check: (context, report) => {
    const compositions = namesAt(context, "compositions");
    for (const [name, state] of Object.entries(context.pack.workflow?.states ?? {})) {
      // A state without the composition it needs was refused by the shape phase.
      if (state.composition === undefined) continue;
      if (state.orchestration !== "composition") {
        reportNoUse(context, report, { name, composition: state.composition });
      } else if (compositions !== undefined && !compositions.has(state.composition)) {
        reportUnknown(context, report, { name, composition: state.composition, compositions });
      }
    }
  },
};

interface StateCase {
  readonly name: string;
  readonly composition: string;
}

function reportUnknown(
  { root, text }: CheckContext,
  report: Report,
  { name, composition, compositions }: StateCase & { compositions: KnownNames },
): void {
  const path = ["workflow", "states", name, "composition"];
  const meant = compositions.guess(composition);
  report({
    at: onValue(...path),
    message: `state \`${name}\` names composition \`${composition}\`, which does not exist`,
    why: "there are no steps to run",
    help: "name a key of compositions, or add the composition",
    ...(meant !== undefined && {
      label: asked(meant),
      fix: { title: `run \`${meant}\``, edits: replaceScalar(root, text, path, meant) },
    }),
    data: { state: name, composition, suggestion: meant ?? null },
  });
}

function reportNoUse(context: CheckContext, report: Report, { name, composition }: StateCase): void {
  const path = ["workflow", "states", name];
  if (context.isBroken(...path, "orchestration")) return;
  report({
    at: onKey(...path, "composition"),
    message: `state \`${name}\` names composition \`${composition}\` but does not run it`,
    why: "only a state with orchestration: composition runs one",
    help: "set `orchestration: composition`, or remove `composition`",
    fix: {
      title: "remove `composition`",
      edits: removeAt(context.root, context.text, [...path, "composition"]),
    },
    data: { state: name, composition },
  });
}
