// Values as texts that the page can show at once.

import type { Json } from "../../../src/base/json.ts";
import { oneLineOf } from "../../../src/core/one-line.ts";
import { leftOutOf } from "../../../src/core/short-turn.ts";
import type { CutText } from "./journal-shapes.ts";

/** Longer texts are cut, and loaded whole on request. */
const SHOWN_MAX = 64 * 1024;

/** What is left of one: enough to see what it is. */
const LEFT = 4 * 1024;

export function cutText(text: string): CutText {
  const leftOut = leftOutOf(text);
  const [first] = leftOut;
  if (first !== undefined)
    return {
      text: text.slice(0, Math.min(first.at, LEFT)),
      size: leftOut.reduce((sum, { size, length }) => sum + size - length, text.length),
      isCut: true,
    };
  return cutLong(text);
}

function cutLong(text: string): CutText {
  const isCut = text.length > SHOWN_MAX;
  return { text: isCut ? text.slice(0, LEFT) : text, size: text.length, isCut };
}

export const textOf = (value: Json | undefined): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? null, null, 2);

export const cutValue = (value: Json | undefined): CutText => cutText(textOf(value));

/** Of a value that did not come with a journal: no text in it can hide what follows. */
export const wholeCut = (value: Json | undefined): CutText => cutLong(textOf(value));

/** On one line of a table, up to where something was left out. */
export function cutLine(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const [first] = leftOutOf(text);
  if (first === undefined) return oneLineOf(text);
  const line = oneLineOf(text.slice(0, first.at));
  return line.endsWith("…") ? line : `${line}…`;
}
