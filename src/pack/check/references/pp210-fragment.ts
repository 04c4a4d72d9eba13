// PP210: a template includes a fragment that does not exist, or fragments include each other.

import { toPointer } from "../../../base/json.ts";
import { fragmentName } from "../../../core/template.ts";
import { editInText, placeOfUse } from "../artifacts/text-map.ts";
import type { CheckContext, Report, Rule } from "../rule.ts";
import { cycleText } from "../wording.ts";
import { fragmentCircles, type Inclusion, inclusionsOf } from "./fragment-graph.ts";
import { asked, type KnownNames, namesAt } from "./known-names.ts";

const NAMESPACE = "fragments.";
/** What a placeholder can hold; a fragment's key may be anything. */
const NAME = /^[A-Za-z0-9_-]+$/;

export const missingFragment: Rule = {
  code: "PP210",
  severity: "error",
  fix: "unsafe",
  title: "fragment does not exist, or includes itself",
  explain:
    "`{{fragments.x}}` inserts the text under `fragments.x`. If there is no such fragment the prompt " +
    "would lack that part, and fragments that include each other would make a text without end; neither " +
    "can be rendered. Add the fragment, correct its name, or break the circle.",
  bad: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: "Say hello. {{fragments.tune}}" }
fragments:
  tone: Be brief.
`,
  good: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: "Say hello. {{fragments.tone}}" }
fragments:
  tone: Be brief.
`,
  check: (context, report) => {
    const fragments = namesAt(context, "fragments");
    if (fragments === undefined) return;
    const byFragment = inclusionsOf(context.pack);
    for (const { name, use } of allInclusions(context, byFragment)) {
      if (!fragments.has(name)) reportMissing(context, report, { name, use, fragments });
    }
    for (const circle of fragmentCircles(byFragment)) reportCircle(context, report, circle);
  },
};

/** Those of the prompts' own templates, then those of all fragments. */
function* allInclusions(
  context: CheckContext,
  byFragment: ReadonlyMap<string, readonly Inclusion[]>,
): Generator<Inclusion> {
  for (const use of context.templates) {
    const name = fragmentName(use.hole);
    if (name !== undefined && use.path[0] !== "fragments") yield { name, use };
  }
  for (const inclusions of byFragment.values()) yield* inclusions;
}

function reportMissing(
  context: CheckContext,
  report: Report,
  { name, use, fragments }: Inclusion & { fragments: KnownNames },
): void {
  const meant = fragments.guess(name);
  const start = use.hole.start + use.hole.raw.indexOf(NAMESPACE) + NAMESPACE.length;
  report({
    at: placeOfUse(context, use),
    message: `fragment \`${name}\` does not exist`,
    why: "the prompt would lack that part",
    help: "add it under fragments, or correct the name",
    ...(meant !== undefined && {
      label: asked(meant),
      fix: {
        title: `include \`${meant}\``,
        edits: NAME.test(meant)
          ? editInText(context, use.path, { part: { start, end: start + name.length }, written: meant })
          : [],
      },
    }),
    data: { fragment: name, in: toPointer(use.path), suggestion: meant ?? null },
  });
}

function reportCircle(context: CheckContext, report: Report, circle: readonly Inclusion[]): void {
  const [first, ...others] = circle as [Inclusion, ...Inclusion[]];
  const names = circle.map(({ use }) => String(use.path[1]));
  report({
    at: placeOfUse(context, first.use),
    message:
      others.length === 0
        ? `fragment \`${first.name}\` includes itself`
        : `fragments ${cycleText(names)} include each other`,
    why: "the text would have no end",
    help: "take one of them out",
    related: others.map(({ name, use }) => {
      return { at: placeOfUse(context, use), message: `\`${String(use.path[1])}\` includes \`${name}\`` };
    }),
    data: { fragments: names },
  });
}
