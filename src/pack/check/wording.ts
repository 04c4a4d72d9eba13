// Lists, cycles and numbers as the texts of findings write them.

/** Names of one kind shown in a text; the finding's data holds them all. */
const NAMES_SHOWN = 4;
const CYCLE_SHOWN = 8;

/** `a`, `b` and `c`; long lists end with how many more there are. */
export function listed(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  if (quoted.length > NAMES_SHOWN) {
    const shown = quoted.slice(0, NAMES_SHOWN - 1);
    return `${shown.join(", ")} and ${quoted.length - shown.length} more`;
  }
  const last = quoted.at(-1) ?? "";
  return quoted.length < 2 ? last : `${quoted.slice(0, -1).join(", ")} and ${last}`;
}

/** `a → b → a` for the states of a cycle, each given once. */
export function cycleText(names: readonly string[]): string {
  const first = names[0] ?? "";
  if (names.length <= CYCLE_SHOWN) return `\`${[...names, first].join(" → ")}\``;
  const shown = names.slice(0, CYCLE_SHOWN - 2);
  return `\`${[...shown, `… ${names.length - shown.length} more …`, first].join(" → ")}\``;
}

const ORDINALS = [
  "zeroth",
  "first",
  "second",
  "third",
  "fourth",
  "fifth",
  "sixth",
  "seventh",
  "eighth",
  "ninth",
  "tenth",
];

/** fourth, 21st, 112th. */
export function ordinal(n: number): string {
  const word = ORDINALS[n];
  if (word !== undefined) return word;
  const teen = n % 100 >= 11 && n % 100 <= 13;
  const suffix = teen ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th");
  return `${grouped(n)}${suffix}`;
}

/** 1,800 */
export function grouped(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** 1 visit, 2,000 visits */
export function counted(n: number, noun: string): string {
  return `${grouped(n)} ${noun}${n === 1 ? "" : "s"}`;
}
