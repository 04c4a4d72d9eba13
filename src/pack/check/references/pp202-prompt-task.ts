// PP202: a state or a step runs a prompt that does not exist.

import type { Path } from "../../../base/json.ts";
import { replaceScalar } from "../../fix/edits.ts";
import { type CheckContext, onValue, type Rule } from "../rule.ts";
import { asked, namesAt } from "./known-names.ts";
import { placedSteps } from "./step-places.ts";

export const promptTask: Rule = {
  code: "PP202",
  severity: "error",
  fix: "unsafe",
  title: "prompt_task is not a prompt",
  explain:
    "`prompt_task` of a state or of a composition step names a key of `prompts`, not the `id` inside a " +
    "prompt. There would be nothing to send to the model. Correct the spelling, or add the prompt.",
  bad: `
prompts:
  tester: { id: tester, name: Tester, version: 1.0.0, system_template: Emit Done when finished. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: test
  states:
    test: { prompt_task: testr, on_event: { Done: finish } }
    finish: { prompt_task: close, terminal: true }
`,
  good: `
prompts:
  tester: { id: tester, name: Tester, version: 1.0.0, system_template: Emit Done when finished. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: test
  states:
    test: { prompt_task: tester, on_event: { Done: finish } }
    finish: { prompt_task: close, terminal: true }
`,
  check: (context, report) => {
    const prompts = namesAt(context, "prompts");
    if (prompts === undefined || prompts.size === 0) return;
    for (const { who, prompt, path } of tasks(context)) {
      if (prompts.has(prompt)) continue;
      const meant = prompts.guess(prompt);
      report({
        at: onValue(...path),
        message: `${who} uses prompt \`${prompt}\`, which does not exist`,
        why: "prompt_task names a key of prompts",
        help: "rename it, or add the prompt",
        ...(meant !== undefined && {
          label: asked(meant),
          fix: { title: `use \`${meant}\``, edits: replaceScalar(context.root, context.text, path, meant) },
        }),
        data: { prompt, suggestion: meant ?? null },
      });
    }
  },
};

function* tasks({ pack }: CheckContext): Generator<{ who: string; prompt: string; path: Path }> {
  for (const [name, state] of Object.entries(pack.workflow?.states ?? {})) {
    if (state.prompt_task === undefined) continue;
    const path = ["workflow", "states", name, "prompt_task"];
    yield { who: `state \`${name}\``, prompt: state.prompt_task, path };
  }
  for (const { step, path } of placedSteps(pack)) {
    // The shape phase fills in an empty name where there is none.
    if ((step.kind !== "prompt" && step.kind !== "agent") || step.prompt_task === "") continue;
    yield { who: `step \`${step.id}\``, prompt: step.prompt_task, path: [...path, "prompt_task"] };
  }
}
