// Names of new runs: they sort by time.

import { randomBytes } from "node:crypto";

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** `r_` and 16 digits: nine of time, seven of chance. */
export function newRunId(nowMs: number): string {
  let time = "";
  for (let left = nowMs; time.length < 9; left = Math.floor(left / 32)) time = DIGITS[left % 32] + time;
  const chance = [...randomBytes(7)].map((byte) => DIGITS[byte % 32]).join("");
  return `r_${time}${chance}`;
}
