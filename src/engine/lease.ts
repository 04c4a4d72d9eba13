// Who was stopped for a while, or could not reach the store, may have lost its runs: what they ask was done
// by another then. No call leaves before that is known.

import type { Clock, SharedRuns } from "./ports.ts";

/** How often a call that waits looks whether it may leave. */
const LOOK_MS = 50;

export interface Lease {
  readonly clock: Clock;
  readonly shared?: SharedRuns | undefined;
}

/** Whether a call of the run may leave; undefined where one process has the store to itself. */
export function leaves(
  { shared, clock }: Lease,
  run: string,
  signal: AbortSignal,
): (() => Promise<boolean>) | undefined {
  if (shared === undefined) return undefined;
  return async () => {
    while (!shared.isSure && !signal.aborted) await clock.sleep(LOOK_MS, signal);
    return shared.isOurs(run);
  };
}
