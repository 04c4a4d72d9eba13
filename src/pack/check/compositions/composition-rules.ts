// PP8xx: compositions, providers, governance.

import type { Rule } from "../rule.ts";
import { repeatedStep } from "./pp801-repeated-step.ts";
import { stepReference } from "./pp802-step-reference.ts";
import { stepCycle } from "./pp803-step-cycle.ts";
import { unreachableStep } from "./pp804-unreachable-step.ts";
import { silentComposition } from "./pp805-silent-composition.ts";
import { portability } from "./pp806-portability.ts";
import { unknownStepKey } from "./pp807-unknown-step-key.ts";
import { repeatedId } from "./pp811-repeated-id.ts";
import { governanceReference } from "./pp812-governance-reference.ts";
import { undeclaredPrefix } from "./pp813-undeclared-prefix.ts";
import { autonomy } from "./pp814-autonomy.ts";
import { failOnViolation } from "./pp815-fail-on-violation.ts";
import { checkType } from "./pp816-check-type.ts";
import { openString } from "./pp817-open-string.ts";
import { unfitProvider } from "./pp818-unfit-provider.ts";
import { metric } from "./pp819-metric.ts";

export const compositionRules: readonly Rule[] = [
  repeatedStep,
  stepReference,
  stepCycle,
  unreachableStep,
  silentComposition,
  portability,
  unknownStepKey,
  repeatedId,
  governanceReference,
  undeclaredPrefix,
  autonomy,
  failOnViolation,
  checkType,
  openString,
  unfitProvider,
  metric,
];
