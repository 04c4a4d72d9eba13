// Time that never goes back within a process: the wall clock at the start plus a monotonic difference.

import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "./ports.ts";

/** The longest a timer of Node can be; longer waits are made of several. */
const TIMER_MAX_MS = 2_147_483_647;

export function systemClock(): Clock {
  const wall = Date.now();
  const start = performance.now();
  return {
    now: () => Math.floor(wall + performance.now() - start),
    async sleep(ms, signal) {
      for (let left = ms; left > 0 && !signal.aborted; left -= TIMER_MAX_MS) {
        await delay(Math.min(left, TIMER_MAX_MS), undefined, { signal, ref: true }).catch(() => undefined);
      }
    },
  };
}
