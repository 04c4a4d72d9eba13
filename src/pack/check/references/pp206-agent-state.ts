// PP206: an agent enters the workflow at a state that does not exist.

import { removeAt, replaceScalar } from "../../fix/edits.ts";
import { type CheckContext, onValue, type Report, type Rule } from "../rule.ts";
import { asked, type KnownNames, namesAt } from "./known-names.ts";

export const agentState: Rule = {
  code: "PP206",
  severity: "error",
  fix: "unsafe",
  title: "agent starts at no state",
  explain:
    "`state` of an agent makes every call of it a run of the workflow from that state on. It must be a " +
    "key of `workflow.states`, so it also needs a workflow. Correct the spelling, or drop `state` to let " +
    "the agent run its prompt alone.",
  bad: `
prompts:
  triage: { id: triage, name: Triage, version: 1.0.0, system_template: Emit Done when sorted. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: triage
  states:
    triage: { prompt_task: triage, on_event: { Done: finish } }
    finish: { prompt_task: close, terminal: true }
agents:
  entry: triage
  members:
    triage: { description: Sorts a request., state: trage }
`,
  good: `
prompts:
  triage: { id: triage, name: Triage, version: 1.0.0, system_template: Emit Done when sorted. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: triage
  states:
    triage: { prompt_task: triage, on_event: { Done: finish } }
    finish: { prompt_task: close, terminal: true }
agents:
  entry: triage
  members:
    triage: { description: Sorts a request., state: triage }
`,
  check: (context, report) => {
    const states = namesAt(context, "workflow", "states");
    if (states === undefined) return;
    for (const [agent, { state }] of Object.entries(context.pack.agents?.members ?? {})) {
      if (state === undefined || states.has(state)) continue;
      if (context.exists("workflow")) reportUnknown(context, report, { agent, state, states });
      else reportNoWorkflow(context, report, { agent, state });
    }
  },
};

function reportUnknown(
  { root, text }: CheckContext,
  report: Report,
  { agent, state, states }: { agent: string; state: string; states: KnownNames },
): void {
  const path = ["agents", "members", agent, "state"];
  const meant = states.guess(state);
  report({
    at: onValue(...path),
    message: `agent \`${agent}\` starts at \`${state}\`, which is not a state`,
    why: "state names a key of workflow.states",
    help: "rename it, or drop `state`",
    ...(meant !== undefined && {
      label: asked(meant),
      fix: { title: `start at \`${meant}\``, edits: replaceScalar(root, text, path, meant) },
    }),
    data: { agent, state, suggestion: meant ?? null },
  });
}

function reportNoWorkflow(
  { root, text }: CheckContext,
  report: Report,
  { agent, state }: { agent: string; state: string },
): void {
  const path = ["agents", "members", agent, "state"];
  report({
    at: onValue(...path),
    message: `agent \`${agent}\` starts at \`${state}\`, but the pack has no workflow`,
    why: "state names a key of workflow.states",
    help: "add the workflow, or drop `state`",
    fix: { title: "drop `state`", edits: removeAt(root, text, path) },
    data: { agent, state, suggestion: null },
  });
}
