// Lengths of time on a command line: 10s, 90m, 30d.

import { InvalidArgumentError } from "commander";

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** In milliseconds. */
export function duration(text: string): number {
  const match = /^(\d{1,9})(ms|s|m|h|d|w)$/.exec(text);
  if (match === null)
    throw new InvalidArgumentError(`\`${text}\` is not a time (expected 10s, 90m, 12h or 30d)`);
  return Number(match[1]) * (UNITS[match[2] as string] as number);
}
