// PP801: two steps of a composition have the same id.

import { onValue, type Rule } from "../rule.ts";
import { compositionsOf, type PlacedStep } from "./step-list.ts";

export const repeatedStep: Rule = {
  code: "PP801",
  severity: "error",
  title: "step id is repeated",
  explain:
    "Steps are referred to by their ids, from anywhere in the composition, so an id may occur once, " +
    "steps inside parallel branches included. Rename one of them and the references that mean it.",
  bad: `
prompts:
  sort: { id: sort, name: Sort, version: 1.0.0, system_template: Sort the text. }
compositions:
  intake:
    version: 1
    steps:
      - { id: parse, kind: prompt, prompt_task: sort, input: "\${input}" }
      - { id: parse, kind: prompt, prompt_task: sort, input: "\${parse.output}" }
workflow:
  version: 1
  entry: intake
  states: { intake: { orchestration: composition, composition: intake, terminal: true } }
`,
  good: `
prompts:
  sort: { id: sort, name: Sort, version: 1.0.0, system_template: Sort the text. }
compositions:
  intake:
    version: 1
    steps:
      - { id: parse, kind: prompt, prompt_task: sort, input: "\${input}" }
      - { id: check, kind: prompt, prompt_task: sort, input: "\${parse.output}" }
workflow:
  version: 1
  entry: intake
  states: { intake: { orchestration: composition, composition: intake, terminal: true } }
`,
  check: (context, report) => {
    for (const { name, steps } of compositionsOf(context)) {
      const first = new Map<string, PlacedStep>();
      for (const placed of steps) {
        const { id } = placed.step;
        if (context.isBroken(...placed.path, "id")) continue;
        const before = first.get(id);
        if (before === undefined) {
          first.set(id, placed);
          continue;
        }
        report({
          at: onValue(...placed.path, "id"),
          message: `step \`${id}\` exists twice`,
          why: "references would be ambiguous",
          help: "rename one",
          related: [{ at: onValue(...before.path, "id"), message: "the first one" }],
          data: { composition: name, step: id },
        });
      }
    }
  },
};
