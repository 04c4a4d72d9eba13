// Lengths of time on a command line: 10s, 90m, 30d.

import { InvalidArgumentError } from "commander";
import { durationMs } from "../../base/duration.ts";

/** In milliseconds. */
export function duration(text: string): number {
  const ms = durationMs(text);
  if (ms === undefined)
    throw new InvalidArgumentError(`\`${text}\` is not a time (expected 10s, 90m, 12h or 30d)`);
  return ms;
}
