// Milliseconds to ISO 8601 in UTC. Written out, because pure code has no clock and its tests ban `new Date`.

const DAY_MS = 86_400_000;

export function isoTime(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  const rest = ms - days * DAY_MS;
  const clock = `${two(rest / 3_600_000)}:${two((rest / 60_000) % 60)}:${two((rest / 1000) % 60)}`;
  return `${dateOf(days)}T${clock}.${String(Math.floor(rest % 1000)).padStart(3, "0")}Z`;
}

const two = (part: number): string => String(Math.floor(part)).padStart(2, "0");

/** Times are asked for in long lists of one day. */
let last = { days: Number.NaN, date: "" };

function dateOf(days: number): string {
  if (last.days !== days) {
    const { year, month, day } = civil(days);
    last = { days, date: `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}` };
  }
  return last.date;
}

/** Days since 1970-01-01 to a date of the Gregorian calendar, by eras of 400 years. */
function civil(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}
