// PP706: a pattern that takes far longer than in proportion to the text.

import type { Path } from "../../../base/json.ts";
import { type Growth, growthOf } from "../../../base/super-linear.ts";
import { type CheckContext, onValue, type Rule } from "../rule.ts";

export const slowPattern: Rule = {
  code: "PP706",
  severity: "warning",
  title: "pattern with super-linear matching",
  explain:
    "Many matchers try every way to divide a text among repetitions before they give up. Where one " +
    "repetition stands inside another, or two in a row match the same characters, the number of ways " +
    "grows with the square of the text or doubles with every character. Rewrite the pattern so that " +
    "each character can be matched in one way only: `^(a+)+$` is the same as `^a+$`.",
  bad: `
prompts:
  greet:
    id: greet
    name: Greet
    version: 1.0.0
    system_template: "Greet {{name}}."
    variables: [{ name: name, type: string, required: true, validation: { pattern: "^([a-z]+ ?)+$" } }]
`,
  good: `
prompts:
  greet:
    id: greet
    name: Greet
    version: 1.0.0
    system_template: "Greet {{name}}."
    variables: [{ name: name, type: string, required: true, validation: { pattern: "^[a-z]+( [a-z]+)*$" } }]
`,
  check: (context, report) => {
    const judged = new Map<string, Growth | undefined>();
    let length = 0;
    for (const { pattern, path } of patternsOf(context)) {
      if (!judged.has(pattern)) {
        length += pattern.length;
        judged.set(pattern, length > LENGTH_MAX ? undefined : growthOf(pattern));
      }
      const growth = judged.get(pattern);
      if (growth === undefined) continue;
      const hangs = growth === "exponential";
      report({
        at: onValue(...path),
        message: `\`${pattern}\` ${hangs ? "can hang on a short text" : "is slow on a long text"}`,
        why: hangs ? "nested repetition" : "two repetitions in a row match the same characters",
        help: "rewrite it",
        data: { pattern, growth },
      });
    }
  },
};

/** Characters of different patterns judged in one pack, which takes up to a second for the worst of them. */
const LENGTH_MAX = 50_000;

interface PlacedPattern {
  readonly pattern: string;
  readonly path: Path;
}

function patternsOf({ pack, isBroken }: CheckContext): readonly PlacedPattern[] {
  const found: PlacedPattern[] = [];
  const add = (pattern: unknown, path: Path): void => {
    if (typeof pattern === "string" && !isBroken(...path)) found.push({ pattern, path });
  };
  for (const [key, prompt] of Object.entries(pack.prompts)) {
    for (const [index, variable] of (prompt.variables ?? []).entries()) {
      add(variable.validation?.pattern, ["prompts", key, "variables", index, "validation", "pattern"]);
    }
    for (const [index, { params }] of (prompt.validators ?? []).entries()) {
      if (params === undefined || !Object.hasOwn(params, "pattern")) continue;
      add(params["pattern"], ["prompts", key, "validators", index, "params", "pattern"]);
    }
  }
  return found;
}
