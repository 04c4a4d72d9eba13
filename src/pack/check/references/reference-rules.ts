// PP2xx: names that must lead somewhere.

import type { Rule } from "../rule.ts";
import { entryState } from "./pp201-entry.ts";
import { promptTask } from "./pp202-prompt-task.ts";
import { eventTarget } from "./pp203-event-target.ts";
import { fallbackState } from "./pp204-fallback.ts";
import { idleFallback } from "./pp205-idle-fallback.ts";
import { agentState } from "./pp206-agent-state.ts";
import { agentPrompt } from "./pp207-agent-prompt.ts";
import { selfCall } from "./pp208-self-call.ts";
import { undefinedTool } from "./pp209-undefined-tool.ts";
import { missingFragment } from "./pp210-fragment.ts";
import { stateComposition } from "./pp211-composition.ts";
import { pathLeaves } from "./pp212-path-leaves.ts";
import { unknownProvider } from "./pp213-provider.ts";
import { idleBlock } from "./pp214-idle-block.ts";
import { promptId } from "./pp215-prompt-id.ts";
import { unlistedEntry } from "./pp216-unlisted-entry.ts";
import { reservedPrefix } from "./pp217-reserved-prefix.ts";

export const referenceRules: readonly Rule[] = [
  entryState,
  promptTask,
  eventTarget,
  fallbackState,
  idleFallback,
  agentState,
  agentPrompt,
  selfCall,
  undefinedTool,
  missingFragment,
  stateComposition,
  pathLeaves,
  unknownProvider,
  idleBlock,
  promptId,
  unlistedEntry,
  reservedPrefix,
];
