// PP803: steps of a composition wait for each other.

import { shortestCycles } from "../cycles.ts";
import { onValue, type Rule } from "../rule.ts";
import { cycleText } from "../wording.ts";
import { type StepGraph, stepGraph } from "./step-graph.ts";
import { compositionsOf, type PlacedStep } from "./step-list.ts";

export const stepCycle: Rule = {
  code: "PP803",
  severity: "error",
  title: "steps wait for each other",
  explain:
    "A composition runs each step at most once, after the steps it waits for: those in `depends_on`, " +
    "else the one before it in the list; targets of a branch wait for the branch. In a circle of such " +
    "steps none can begin. Drop one dependency; for repetition use a workflow state.",
  bad: `
prompts:
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: Sum up the text. }
compositions:
  brief:
    version: 1
    steps:
      - { id: a, kind: prompt, prompt_task: sum, depends_on: [b] }
      - { id: b, kind: prompt, prompt_task: sum, depends_on: [a] }
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
      - { id: a, kind: prompt, prompt_task: sum }
      - { id: b, kind: prompt, prompt_task: sum, depends_on: [a] }
workflow:
  version: 1
  entry: brief
  states: { brief: { orchestration: composition, composition: brief, terminal: true } }
`,
  check: (context, report) => {
    for (const { name, steps } of compositionsOf(context)) {
      const graph = stepGraph(steps);
      // With an id used twice the order is not known; PP801 has said so.
      if (graph.indexById.size < steps.length) continue;
      for (const cycle of shortestCycles(successors(graph))) {
        const members = cycle.map((index) => steps[index] as PlacedStep);
        const ids = members.map(({ step }) => step.id);
        const [first, ...others] = members;
        if (first === undefined) continue;
        report({
          at: onValue(...first.path, "id"),
          message: `${cycleText(ids)}: ${others.length === 0 ? ALONE : TOGETHER}`,
          why: "compositions are acyclic",
          help: "drop one dependency",
          related: others.map(({ step, path }) => ({
            at: onValue(...path, "id"),
            message: `\`${step.id}\``,
          })),
          data: { composition: name, steps: ids },
        });
      }
    }
  },
};

const ALONE = "the step waits for itself";
const TOGETHER = "steps wait for each other";

function successors({ before }: StepGraph): readonly (readonly number[])[] {
  const rows: number[][] = before.map(() => []);
  for (const [index, earlier] of before.entries()) for (const one of earlier) rows[one]?.push(index);
  return rows;
}
