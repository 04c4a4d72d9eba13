// Where machines share a store they go by its time: by their own, one whose clock is ahead would end the runs
// of all the others early.

import type { Clock, SharedRuns } from "./ports.ts";

export function storeClock(own: Clock, shared: Pick<SharedRuns, "now">): Clock {
  let last = 0;
  return {
    now: () => {
      // What is known of the store's time gets better, and time never goes back within a process.
      last = Math.max(last, Math.floor(shared.now()));
      return last;
    },
    sleep: (ms, signal) => own.sleep(ms, signal),
  };
}
