// What changed between two values. JSON is laid out with sorted keys and one value a line first, so that the
// order of keys is no change and items of lists are matched with each other.

import { diffLines } from "diff";
import { isObject, type Json, put } from "../../../src/base/json.ts";
import { textOf } from "./cut-text.ts";
import type { DiffLine, ValueDiff } from "./journal-shapes.ts";

/** Longer ones are not compared in a page. */
const SIZE_MAX = 5_000_000;
const TIME_MS = 2_000;

/** Lines shown; beyond them only the counts are. */
const LINES_MAX = 5_000;

/** Unchanged lines kept around a change. */
const AROUND = 3;

export function valueDiff(before: Json | undefined, after: Json | undefined): ValueDiff {
  const [left, right] = [laidOut(before), laidOut(after)];
  if (left.length + right.length > SIZE_MAX) return without("the values are too large to compare here");
  const changes = diffLines(left, right, { timeout: TIME_MS });
  if (changes === undefined) return without("the values differ too much to compare them line by line");
  const lines: DiffLine[] = [];
  let [added, removed] = [0, 0];
  for (const [index, change] of changes.entries()) {
    const texts = change.value.replace(/\n$/, "").split("\n");
    const kind = change.added ? "added" : change.removed ? "removed" : "same";
    if (kind === "added") added += texts.length;
    if (kind === "removed") removed += texts.length;
    const isFirst = index === 0;
    const isLast = index === changes.length - 1;
    const shown = kind === "same" ? shortened(texts, isFirst, isLast) : texts;
    if (lines.length < LINES_MAX) for (const text of shown) lines.push({ kind, text });
  }
  return { lines: lines.slice(0, LINES_MAX), added, removed, why: null };
}

const without = (why: string): ValueDiff => ({ lines: [], added: 0, removed: 0, why });

function shortened(texts: readonly string[], isFirst: boolean, isLast: boolean): readonly string[] {
  if (texts.length <= AROUND * 2 + 1) return texts;
  const head = isFirst ? [] : texts.slice(0, AROUND);
  const tail = isLast ? [] : texts.slice(-AROUND);
  return [...head, `… ${texts.length - head.length - tail.length} lines as before`, ...tail];
}

const laidOut = (value: Json | undefined): string =>
  value === undefined ? "" : typeof value === "string" ? value : textOf(sorted(value));

/** Deeper values are compared as they are. */
const DEPTH_MAX = 200;

function sorted(value: Json, depth = 0): Json {
  if (depth > DEPTH_MAX) return value;
  if (Array.isArray(value)) return value.map((item: Json) => sorted(item, depth + 1));
  if (!isObject(value)) return value;
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(value).sort()) put(copy, key, sorted(value[key] as Json, depth + 1));
  return copy;
}
