// PP7xx: security.

import type { Rule } from "../rule.ts";
import { credential } from "./pp701-credential.ts";
import { trifecta } from "./pp702-trifecta.ts";
import { ungatedTool } from "./pp703-ungated-tool.ts";
import { openBinding } from "./pp704-open-binding.ts";
import { agentCycle } from "./pp705-agent-cycle.ts";
import { slowPattern } from "./pp706-slow-pattern.ts";
import { undeclaredScope } from "./pp707-undeclared-scope.ts";

export const securityRules: readonly Rule[] = [
  credential,
  trifecta,
  ungatedTool,
  openBinding,
  agentCycle,
  slowPattern,
  undeclaredScope,
];
