// The most tool calls of a run before `max_tool_calls` cuts it short.

import { uncappedToolCalls } from "../../flow/bound.ts";
import type { CheckContext } from "../rule.ts";

/** Over all entry points; null when nothing but the limit itself bounds them. */
export function worstToolCalls({ program, flow, analyses, bounds }: CheckContext): number | null {
  const cap = program.workflow?.budget.toolCallsMax ?? null;
  let worst = 0;
  for (const [index, analysis] of analyses.entries()) {
    const bounded = bounds[index]?.toolCalls ?? null;
    // Below the cap a bound was not cut by it.
    const isCut = bounded === null || (cap !== null && bounded >= cap);
    const calls = isCut ? uncappedToolCalls(program, analysis, flow) : bounded;
    if (calls === null) return null;
    worst = Math.max(worst, calls);
  }
  return worst;
}
