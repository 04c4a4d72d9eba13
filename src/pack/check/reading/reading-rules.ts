// PP1xx: reading a file and its shape.

import type { Rule } from "../rule.ts";
import { schemaViolation } from "./pp101-schema.ts";
import { syntaxError } from "./pp102-syntax.ts";
import { duplicateKey } from "./pp103-duplicate-key.ts";
import { overLimit } from "./pp104-limits.ts";
import { unknownProperty } from "./pp105-unknown-property.ts";
import { loopVersion } from "./pp106-loop-version.ts";
import { yamlTrap } from "./pp107-yaml-trap.ts";
import { newerSchema } from "./pp108-newer-schema.ts";
import { workflowVersion } from "./pp109-workflow-version.ts";
import { toolName } from "./pp110-tool-name.ts";

export const readingRules: readonly Rule[] = [
  schemaViolation,
  syntaxError,
  duplicateKey,
  overLimit,
  unknownProperty,
  loopVersion,
  yamlTrap,
  newerSchema,
  workflowVersion,
  toolName,
];
