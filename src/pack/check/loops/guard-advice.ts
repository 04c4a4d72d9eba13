// The help clause of findings about endless cycles: a guard that was tried, or what to look for.

import type { Advice } from "./endless-runs.ts";

export function guardAdvice(advice: Advice | undefined): string {
  if (advice === undefined)
    return "guard its states with `max_visits`, and let `on_max_visits` lead out of the cycle";
  return advice.fallback === null
    ? `guard \`${advice.state}\``
    : `guard \`${advice.state}\`, fall back to \`${advice.fallback}\``;
}

/** The same written as the fields to add. */
export function guardFields(advice: Advice | undefined): string {
  if (advice === undefined || advice.fallback === null) return guardAdvice(advice);
  const { state, visitsMax, fallback } = advice;
  return `give \`${state}\` \`max_visits: ${visitsMax}\`, \`on_max_visits: ${fallback}\``;
}
