// PP804: a step that runs however the branches decide: never.

import { onValue, type Rule } from "../rule.ts";
import { stepGraph } from "./step-graph.ts";
import { compositionsOf, type PlacedStep } from "./step-list.ts";
import { possibleRuns, topOf } from "./step-runs.ts";

export const unreachableStep: Rule = {
  code: "PP804",
  severity: "warning",
  title: "step never runs",
  explain:
    "A branch with `then` and `else` goes on with one of the two, so a step that stands behind it and " +
    "is neither runs in no case, unless `depends_on` ties it to something that does. A step is also " +
    "skipped with all the steps it depends on. Let a branch lead to it, give it `depends_on`, or remove " +
    "it.",
  bad: `
prompts:
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: Sum up the text. }
compositions:
  brief:
    version: 1
    steps:
      - { id: gate, kind: branch, predicate: { path: "\${input.long}", exists: true }, then: cut, else: keep }
      - { id: fallback, kind: prompt, prompt_task: sum }
      - { id: cut, kind: prompt, prompt_task: sum }
      - { id: keep, kind: prompt, prompt_task: sum }
workflow:
  version: 1
  entry: brief
  states: { brief: { orchestration: composition, composition: brief, terminal: true } }
`,
  good: `
prompts:
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: Sum up the text. }
compositions:
  brief:
    version: 1
    steps:
      - { id: gate, kind: branch, predicate: { path: "\${input.long}", exists: true }, then: cut, else: keep }
      - { id: cut, kind: prompt, prompt_task: sum }
      - { id: keep, kind: prompt, prompt_task: sum }
workflow:
  version: 1
  entry: brief
  states: { brief: { orchestration: composition, composition: brief, terminal: true } }
`,
  check: (context, report) => {
    for (const { name, steps } of compositionsOf(context)) {
      if (context.isBroken("compositions", name, "steps")) continue;
      const graph = stepGraph(steps);
      const runs = possibleRuns(graph);
      if (runs === undefined) continue;
      const ran = new Set(runs.flat());
      for (const index of graph.top) {
        const { step, path } = steps[index] as PlacedStep;
        const needed = (step.depends_on ?? []).map((id) => topOf(graph, graph.indexById.get(id) as number));
        const tied = needed.length > 0;
        // What depends on a step that never runs is no mistake of its own.
        if (ran.has(index) || (tied && needed.every((one) => !ran.has(one)))) continue;
        report({
          at: onValue(...path, "id"),
          message: `step \`${step.id}\` never runs`,
          why: tied
            ? "whatever the branches decide, it is skipped itself or with what it depends on"
            : "no branch leads to it",
          help: "connect or remove it",
          data: { composition: name, step: step.id },
        });
      }
    }
  },
};
