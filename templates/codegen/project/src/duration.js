// Durations as people write them, in seconds.

const SECONDS = { h: 3600, m: 60, s: 1 };

/** `1h 30m` is 5400. */
export function parseDuration(text) {
  let seconds = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)\s*([hms])/g)) {
    seconds += Number(count) * SECONDS[unit];
  }
  return seconds;
}
