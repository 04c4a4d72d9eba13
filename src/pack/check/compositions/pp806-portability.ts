// PP806: accepted here, refused by other runtimes.

import { onValue, type Rule } from "../rule.ts";
import { compositionsOf } from "./step-list.ts";

export const portability: Rule = {
  code: "PP806",
  severity: "info",
  title: "step other runtimes reject",
  explain:
    "The specification leaves some forms open: branches and parallel steps inside a parallel step, step " +
    "kinds of a vendor, and reducers whose names are reserved for later. A pack that uses them may be " +
    "refused elsewhere. Nothing has to be done if it runs only here.",
  bad: `
prompts:
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: Sum up the text. }
compositions:
  views:
    version: 1
    steps:
      - id: fan
        kind: parallel
        branches:
          - { id: one, kind: prompt, prompt_task: sum }
          - id: inner
            kind: parallel
            branches:
              - { id: two, kind: prompt, prompt_task: sum }
              - { id: three, kind: prompt, prompt_task: sum }
            reduce: { strategy: barrier, into: both }
        reduce: { strategy: barrier, into: found }
workflow:
  version: 1
  entry: views
  states: { views: { orchestration: composition, composition: views, terminal: true } }
`,
  good: `
prompts:
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: Sum up the text. }
compositions:
  views:
    version: 1
    steps:
      - id: fan
        kind: parallel
        branches:
          - { id: one, kind: prompt, prompt_task: sum }
          - { id: two, kind: prompt, prompt_task: sum }
        reduce: { strategy: barrier, into: found }
workflow:
  version: 1
  entry: views
  states: { views: { orchestration: composition, composition: views, terminal: true } }
`,
  check: (context, report) => {
    for (const { name, steps } of compositionsOf(context)) {
      for (const { step, path, parent } of steps) {
        const data = { composition: name, step: step.id };
        if (parent !== undefined && (step.kind === "parallel" || step.kind === "branch")) {
          report({
            at: onValue(...path, "kind"),
            message: `nested \`${step.kind}\` in \`${parent.step.id}\``,
            why: "accepted here, rejected elsewhere",
            help: "flatten for portability",
            data: { ...data, parent: parent.step.id, kind: step.kind },
          });
        }
        if (step.kind.includes(".")) {
          report({
            at: onValue(...path, "kind"),
            message: `step \`${step.id}\` has kind \`${step.kind}\``,
            why: "kinds with a dot belong to one vendor; other runtimes reject them",
            help: "use one of the five kinds for portability",
            data: { ...data, kind: step.kind },
          });
        }
        if (step.kind === "parallel" && isReserved(step.reduce.strategy)) {
          report({
            at: onValue(...path, "reduce", "strategy"),
            message: `reducer \`${step.reduce.strategy}\` of \`${step.id}\` is reserved`,
            why: "no version of the specification defines it yet, and runtimes reject it",
            help: "use `append`, `replace` or `barrier`",
            data: { ...data, strategy: step.reduce.strategy },
          });
        }
      }
    }
  },
};

/** Reducers the specification keeps for later; unknown names are PP817's. */
export function isReserved(strategy: string): boolean {
  return strategy === "aggregate" || strategy === "pick";
}
