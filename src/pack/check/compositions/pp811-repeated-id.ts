// PP811: an id that references use stands for two things.

import type { Path } from "../../../base/json.ts";
import { type CheckContext, onValue, type Report, type Rule } from "../rule.ts";
import { allValidators, evalLevels } from "./eval-list.ts";
import { governanceObjects } from "./governance-list.ts";

export const repeatedId: Rule = {
  code: "PP811",
  severity: "error",
  title: "id of a validator or eval is repeated",
  explain:
    "Governance controls and reviews refer to validators and evals by id. The id of a validator may " +
    "occur once in the whole pack, that of an eval once on each level (a prompt may replace an eval of " +
    "the pack by one with the same id), those of obligations and reviews once in their object. Rename " +
    "one.",
  bad: `
prompts:
  greet:
    id: greet
    name: Greet
    version: 1.0.0
    system_template: Say hello.
    validators:
      - { id: len, type: max_length, params: { max_characters: 200 } }
      - { id: len, type: min_length, params: { min: 2 } }
`,
  good: `
prompts:
  greet:
    id: greet
    name: Greet
    version: 1.0.0
    system_template: Say hello.
    validators:
      - { id: len, type: max_length, params: { max_characters: 200 } }
      - { id: some, type: min_length, params: { min: 2 } }
`,
  check: (context, report) => {
    const validators = allValidators(context).map(({ validator, path }) => ({ id: validator.id, path }));
    judge(context, report, { what: "validator", items: validators });
    for (const level of evalLevels(context)) {
      judge(context, report, {
        what: "eval",
        items: level.map((one) => ({ id: one.eval.id, path: one.path })),
      });
    }
    for (const { written, path } of governanceObjects(context)) {
      for (const [what, key] of [
        ["obligation", "obligations"],
        ["review", "reviews"],
      ] as const) {
        const items = (written[key] ?? []).map(({ id }, index) => ({ id, path: [...path, key, index] }));
        judge(context, report, { what, items });
      }
    }
  },
};

interface Identified {
  readonly id: string | undefined;
  readonly path: Path;
}

function judge(
  context: CheckContext,
  report: Report,
  { what, items }: { what: string; items: readonly Identified[] },
): void {
  const first = new Map<string, Path>();
  for (const { id, path } of items) {
    if (id === undefined || context.isBroken(...path, "id")) continue;
    const before = first.get(id);
    if (before === undefined) {
      first.set(id, path);
      continue;
    }
    report({
      at: onValue(...path, "id"),
      message: `${what} \`${id}\` exists twice`,
      why: what === "validator" || what === "eval" ? "controls refer to it by id" : "it is referred to by id",
      help: "rename one",
      related: [{ at: onValue(...before, "id"), message: "the first one" }],
      data: { kind: what, id },
    });
  }
}
