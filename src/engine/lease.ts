// Who was stopped for a while, or could not reach the store, may have lost its runs: what they ask was done
// by another then. No call leaves before that is known.

import type { Door } from "./door.ts";
import type { Clock, SharedRuns } from "./ports.ts";

/** How often a call that waits looks whether it may leave. */
const LOOK_MS = 50;

export interface Lease {
  readonly clock: Clock;
  readonly shared?: SharedRuns | undefined;
  readonly door: Pick<Door, "forget" | "latest">;
}

interface LeasedCall {
  readonly run: string;
  readonly step: number;
  readonly signal: AbortSignal;
}

/** Whether a call may leave; undefined where one process has the store to itself. */
export function leaves(
  { shared, clock, door }: Lease,
  { run, step, signal }: LeasedCall,
): (() => Promise<boolean>) | undefined {
  if (shared === undefined) return undefined;
  return async () => {
    const wasSure = shared.isSure;
    while (!shared.isSure && !signal.aborted) await clock.sleep(LOOK_MS, signal);
    if (!wasSure && !signal.aborted) {
      // Still ours, or ours again: somebody may have answered in between all the same, or
      // doubt whether the call was made.
      door.forget(run);
      const open = (await door.latest(run))?.open[step];
      if (open === undefined || open.hold !== null) return false;
    }
    return shared.isOurs(run);
  };
}
