// How long, as people and models write it: seconds as a number, or with a unit, as `90s`, `15m`, `2h`, `3d`.

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** The longest time anything is waited for. */
export const YEAR_MS = 366 * 86_400_000;

/** Milliseconds; undefined for what is no length of time. */
export function durationMs(value: unknown): number | undefined {
  if (typeof value === "number")
    return Number.isFinite(value) && value >= 0 ? Math.round(value * 1000) : undefined;
  const match =
    typeof value === "string" ? /^\s*(\d{1,12}(?:\.\d{1,3})?)\s*([smhdw]?)\s*$/i.exec(value) : null;
  if (match === null) return undefined;
  return Math.round(Number(match[1]) * (UNITS[(match[2] || "s").toLowerCase()] as number));
}
