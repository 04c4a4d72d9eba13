// What changed between two values: texts line by line, JSON as a tree.

import { diffLines } from "diff";
import type { Json } from "../../../src/base/json.ts";
import { textOf } from "./cut-text.ts";
import type { DiffLine, ValueDiff } from "./journal-shapes.ts";
import { jsonDiff } from "./json-diff.ts";

/** Longer ones are not compared in a page. */
const SIZE_MAX = 8_000_000;
/** After that all lines count as changed. */
const TIME_MS = 600;

/** Lines shown; beyond them only the counts are. */
const LINES_MAX = 5_000;

/** Unchanged lines kept around a change. */
const AROUND = 3;

export function valueDiff(before: Json | undefined, after: Json | undefined): ValueDiff {
  if (before === undefined || after === undefined || typeof before === "string" || typeof after === "string")
    return linesDiff(laidOut(before), laidOut(after));
  const sizes = JSON.stringify(before).length + JSON.stringify(after).length;
  if (sizes > SIZE_MAX) return without("the values are too large to compare here");
  if (isDeep(before) || isDeep(after)) return linesDiff(JSON.stringify(before), JSON.stringify(after));
  const { tree, added, removed } = jsonDiff(before, after);
  const isAppended = Array.isArray(before) && Array.isArray(after) && before.length > 0 && removed === 0;
  return { lines: [], tree, added, removed, isAppended: isAppended && added > 0, why: null };
}

function linesDiff(before: string, after: string): ValueDiff {
  if (before.length + after.length > SIZE_MAX) return without("the values are too large to compare here");
  // A long text that only grew needs no search for what stayed.
  const hasGrown = before !== "" && after.startsWith(`${before}\n`);
  if (hasGrown) return grown(before, after.slice(before.length + 1));
  const changes = diffLines(before, after, { timeout: TIME_MS }) ?? wholly(before, after);
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
  return { ...none, lines: lines.slice(0, LINES_MAX), added, removed };
}

const wholly = (before: string, after: string) => [
  { value: before, removed: true, added: false },
  { value: after, removed: false, added: true },
];

function grown(before: string, more: string): ValueDiff {
  const same = shortened(before.split("\n"), true, false).map((text): DiffLine => ({ kind: "same", text }));
  const texts = more.split("\n");
  const lines = texts.slice(0, LINES_MAX).map((text): DiffLine => ({ kind: "added", text }));
  return { ...none, lines: [...same, ...lines], added: texts.length, isAppended: true };
}

const none: ValueDiff = { lines: [], tree: null, added: 0, removed: 0, isAppended: false, why: null };

const without = (why: string): ValueDiff => ({ ...none, why });

function shortened(texts: readonly string[], isFirst: boolean, isLast: boolean): readonly string[] {
  if (texts.length <= AROUND * 2 + 1) return texts;
  const head = isFirst ? [] : texts.slice(0, AROUND);
  const tail = isLast ? [] : texts.slice(-AROUND);
  return [...head, `… ${texts.length - head.length - tail.length} lines as before`, ...tail];
}

/** Deeper values are compared as they are written: whatever walks them would run out of stack. */
const DEPTH_MAX = 500;

function isDeep(value: Json): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; depth <= DEPTH_MAX && level.length > 0; depth++)
    level = level.flatMap((one): readonly Json[] =>
      one !== null && typeof one === "object" ? Object.values(one) : [],
    );
  return level.length > 0;
}

const laidOut = (value: Json | undefined): string => (value === undefined ? "" : textOf(value));
