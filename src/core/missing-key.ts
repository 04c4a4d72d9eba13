// A run whose model has no key is not at fault: it is held, with the reason, until somebody who has seen to
// it lets it go. Nothing has left by then, so nothing is spent.

import type { Outcome } from "./facts.ts";
import type { PauseInput } from "./input.ts";
import type { Run } from "./run.ts";

/** What a call that lacks a key comes to. */
const NO_KEY = "no_key";

/** Who holds a run that nobody holds. */
export const RUNTIME = "packloop";

const REASON = `${NO_KEY}: `;

/** What a call that lacks a key does to its run; undefined for any other outcome. */
export const keyPause = (outcome: Outcome, at: number): PauseInput | undefined =>
  outcome.ok || outcome.code !== NO_KEY
    ? undefined
    : { type: "pause", at, by: RUNTIME, reason: `${REASON}${outcome.message}` };

/** Which key it is, in words; undefined for a run that is not held for one. */
export function missingKey({ held }: Pick<Run, "held">): string | undefined {
  if (held?.by !== RUNTIME || held.reason?.startsWith(REASON) !== true) return undefined;
  return held.reason.slice(REASON.length);
}
