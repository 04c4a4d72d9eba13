// PP5xx: artifacts and templates.

import type { Rule } from "../rule.ts";
import { undeclaredArtifact } from "./pp501-undeclared-artifact.ts";
import { readBeforeWritten } from "./pp502-read-before-written.ts";
import { unreadArtifact } from "./pp503-unread-artifact.ts";
import { alwaysEmpty } from "./pp504-always-empty.ts";
import { conflictingArtifact } from "./pp505-conflicting-artifact.ts";
import { mimeType } from "./pp506-mime-type.ts";
import { appendBinary } from "./pp507-append-binary.ts";
import { neededAtStart } from "./pp508-needed-at-start.ts";
import { undeclaredVariable } from "./pp509-undeclared-variable.ts";
import { unusedVariable } from "./pp510-unused-variable.ts";
import { unclosedPlaceholder } from "./pp511-unclosed-placeholder.ts";
import { untrustedFlow } from "./pp512-untrusted-flow.ts";
import { otherSpelling } from "./pp513-other-spelling.ts";
import { requiredDefault } from "./pp514-required-default.ts";
import { appendJson } from "./pp515-append-json.ts";
import { contradictoryValidation } from "./pp516-contradictory-validation.ts";
import { brokenPattern } from "./pp517-broken-pattern.ts";
import { undeclaredRead } from "./pp518-undeclared-read.ts";

export const artifactRules: readonly Rule[] = [
  undeclaredArtifact,
  readBeforeWritten,
  unreadArtifact,
  alwaysEmpty,
  conflictingArtifact,
  mimeType,
  appendBinary,
  neededAtStart,
  undeclaredVariable,
  unusedVariable,
  unclosedPlaceholder,
  untrustedFlow,
  otherSpelling,
  requiredDefault,
  appendJson,
  contradictoryValidation,
  brokenPattern,
  undeclaredRead,
];
