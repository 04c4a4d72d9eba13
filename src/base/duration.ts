// Lengths of time as people write them: `500ms`, `30s`, sums like `1h30m`, and `hourly`, `daily`, `weekly`.

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const NAMES: ReadonlyMap<string, number> = new Map([
  ["hourly", 3_600_000],
  ["daily", 86_400_000],
  ["weekly", 604_800_000],
]);

/** A century: what is longer is a slip of the pen. */
const LONGEST_MS = 36_525 * 86_400_000;

/** In milliseconds; undefined when it is none. */
export function durationMs(text: string): number | undefined {
  const named = NAMES.get(text);
  if (named !== undefined) return named;
  if (!/^(\d{1,12}(ms|[smhdw]))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)(ms|[smhdw])/g))
    total += Number(count) * (UNITS[unit ?? ""] ?? 0);
  return total <= LONGEST_MS ? total : undefined;
}
