// The catalogue: every rule in code order.

import { artifactRules } from "./artifacts/artifact-rules.ts";
import { compositionRules } from "./compositions/composition-rules.ts";
import { eventRules } from "./events/event-rules.ts";
import { graphRules } from "./graph/graph-rules.ts";
import { loopRules } from "./loops/loop-rules.ts";
import { metaRules } from "./meta/meta-rules.ts";
import { readingRules } from "./reading/reading-rules.ts";
import { referenceRules } from "./references/reference-rules.ts";
import type { Rule } from "./rule.ts";
import { securityRules } from "./security/security-rules.ts";

export const rules: readonly Rule[] = [
  ...readingRules,
  ...referenceRules,
  ...graphRules,
  ...loopRules,
  ...artifactRules,
  ...eventRules,
  ...securityRules,
  ...compositionRules,
  ...metaRules,
];

const byCode: ReadonlyMap<string, Rule> = new Map(rules.map((rule) => [rule.code, rule]));

export function ruleByCode(code: string): Rule | undefined {
  return byCode.get(code);
}
