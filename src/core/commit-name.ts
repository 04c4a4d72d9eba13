// The commit that an artifact points to, where it looks as if it does: a hash, the last line of a list of
// them, or an object that has one, as the tool `git commit` gives it.

import { get, isObject, type Json } from "../base/json.ts";

const KEYS = ["sha", "commit_sha", "commit"];

export function commitNamed(value: Json): string | null {
  if (Array.isArray(value)) return value.length === 0 ? null : commitNamed(value.at(-1) as Json);
  if (isObject(value)) {
    const found = KEYS.map((key) => get(value, key)).find((one) => typeof one === "string");
    return typeof found === "string" ? hashIn(found) : null;
  }
  return typeof value === "string" && value.length < 100_000 ? hashIn(value) : null;
}

/** A short one has a letter in it: numbers are no hashes. */
function hashIn(text: string): string | null {
  const line = text.trim().split("\n").at(-1)?.trim() ?? "";
  const isHash = /^[0-9a-f]{7,64}$/.test(line) && (line.length >= 40 || /[a-f]/.test(line));
  return isHash ? line : null;
}
