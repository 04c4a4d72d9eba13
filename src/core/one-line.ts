// A value on one line of a table, cut to a length that a list of thousands can carry.

import type { Json } from "../base/json.ts";

const LENGTH_MAX = 120;

/** Text as it is and JSON as JSON; white space is one blank. */
export function oneLineOf(value: Json, most: number = LENGTH_MAX): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // White space may shrink to nothing, so a little more than is shown is looked at.
  const line = text
    .slice(0, most * 4)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > most || text.length > most * 4 ? `${line.slice(0, most - 1)}…` : line;
}
