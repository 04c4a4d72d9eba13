// PP6xx: events and prompts.

import type { Rule } from "../rule.ts";
import { eventCase } from "./pp601-event-case.ts";
import { unmentionedEvent } from "./pp602-unmentioned-event.ts";
import { unhandledEvent } from "./pp603-unhandled-event.ts";
import { sharedPrompt } from "./pp604-shared-prompt.ts";
import { unusedPrompt } from "./pp605-unused-prompt.ts";
import { unusedPart } from "./pp606-unused-part.ts";
import { agentDescription } from "./pp607-agent-description.ts";

export const eventRules: readonly Rule[] = [
  eventCase,
  unmentionedEvent,
  unhandledEvent,
  sharedPrompt,
  unusedPrompt,
  unusedPart,
  agentDescription,
];
