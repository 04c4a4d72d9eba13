// Where two values first differ, in words short enough for a message.

import { deepEqual, isObject, type Json } from "../../base/json.ts";

export interface Difference {
  readonly path: readonly (string | number)[];
  readonly before: string;
  readonly now: string;
}

/** The deepest place of the first difference; texts are shown around where they part. */
export function firstDifference(before: Json, now: Json): Difference {
  return differ(before, now, []);
}

function differ(before: Json, now: Json, path: readonly (string | number)[]): Difference {
  if (Array.isArray(before) && Array.isArray(now)) {
    const length = Math.max(before.length, now.length);
    for (let index = 0; index < length; index++) {
      const [a, b] = [before[index] as Json | undefined, now[index] as Json | undefined];
      if (a === undefined || b === undefined) return missing(a, b, [...path, index]);
      if (!deepEqual(a, b)) return differ(a, b, [...path, index]);
    }
  }
  if (isObject(before) && isObject(now)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(now)])) {
      const a = Object.hasOwn(before, key) ? before[key] : undefined;
      const b = Object.hasOwn(now, key) ? now[key] : undefined;
      if (a === undefined || b === undefined) return missing(a, b, [...path, key]);
      if (!deepEqual(a, b)) return differ(a, b, [...path, key]);
    }
  }
  const from = typeof before === "string" && typeof now === "string" ? parting(before, now) : 0;
  return { path, before: shown(before, from), now: shown(now, from) };
}

function missing(a: Json | undefined, b: Json | undefined, path: readonly (string | number)[]): Difference {
  return {
    path,
    before: a === undefined ? "nothing" : shown(a, 0),
    now: b === undefined ? "nothing" : shown(b, 0),
  };
}

function parting(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return whole(a, Math.max(0, at - LEAD));
}

/** Never between the halves of a character. */
const whole = (text: string, at: number): number =>
  /^[\udc00-\udfff]/.test(text.slice(at, at + 1)) ? at - 1 : at;

const LEAD = 12;
const SHOWN_MAX = 48;

function shown(value: Json, from: number): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const end = whole(text, from + SHOWN_MAX);
  const piece = text.slice(from, end).replaceAll("\n", "⏎");
  return `\`${from > 0 ? "…" : ""}${piece}${end < text.length ? "…" : ""}\``;
}
