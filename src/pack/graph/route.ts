// The way of each line between two boxes: from the side of one, past what lies between, to the side of the
// other. Sideways moves happen between the rows of boxes, never beside one.

import { must } from "../../base/assert.ts";
import type { Box } from "./boxes.ts";
import { type Point, swing } from "./curve.ts";
import { placeEnds } from "./ports.ts";

/** A line between two boxes, by index, and the points the layout leads it through. */
export interface Line {
  readonly from: number;
  readonly to: number;
  readonly via: readonly Point[];
  /** Its label, through whose middle it passes. */
  readonly label: Box | undefined;
}

/** Ends keep this far from a box's corners. */
const CORNER = 18;
/** Lines keep this far from the labels of others. */
const CLEARANCE = 0;

/** For each line its points, first and last on the boxes. A line to its own box has none. */
export function routes(boxes: readonly Box[], lines: readonly Line[]): readonly (readonly Point[])[] {
  const rows = rowHeights(boxes);
  const ends = endsBySide(boxes, lines);
  const all = lines.map((line, index) => {
    if (line.from === line.to) return [];
    const leave = must(ends.get(`${index}:from`), "every line has a first end");
    const arrive = must(ends.get(`${index}:to`), "every line has a last end");
    return [leave, ...passing(line, leave.y < arrive.y, rows), arrive];
  });
  return relaxed(all, lines);
}

/** The height of each row of boxes, by its middle. */
function rowHeights(boxes: readonly Box[]): ReadonlyMap<number, number> {
  const rows = new Map<number, number>();
  for (const { y, height } of boxes) rows.set(Math.round(y), Math.max(rows.get(Math.round(y)) ?? 0, height));
  return rows;
}

function labelsByRow(lines: readonly Line[]): ReadonlyMap<number, readonly Box[]> {
  const rows = new Map<number, Box[]>();
  for (const { label } of lines) {
    if (label === undefined) continue;
    const row = rows.get(Math.round(label.y));
    if (row === undefined) rows.set(Math.round(label.y), [label]);
    else row.push(label);
  }
  return rows;
}

/** A line that passes a row of boxes does it vertically. */
function passing({ via }: Line, down: boolean, rows: ReadonlyMap<number, number>): readonly Point[] {
  return via.flatMap((point) => {
    const height = rows.get(Math.round(point.y));
    if (height === undefined) return [point];
    const half = (down ? 1 : -1) * (height / 2);
    return [
      { x: point.x, y: point.y - half },
      { x: point.x, y: point.y + half },
    ];
  });
}

interface Bend {
  readonly line: number;
  readonly at: number;
  readonly clear: boolean;
  /** Bends next to one side of a box, to the same hand: all are left out or none, else lines would cross. */
  readonly groups: readonly string[];
}

/**
 * Leaves out the bends that only lead past a row of labels, where the line keeps clear of them without: a
 * sideways move then has the whole gap between two rows of boxes.
 */
function relaxed(all: readonly (readonly Point[])[], lines: readonly Line[]): readonly (readonly Point[])[] {
  const labels = labelsByRow(lines);
  const bends = lines.flatMap((line, index) =>
    bendsOf(line, index, { points: all[index] as readonly Point[], labels }),
  );
  const kept = new Set(bends.filter((bend) => !bend.clear).flatMap((bend) => bend.groups));
  const dropped = new Set<string>();
  for (const { line, at, clear, groups } of bends) {
    if (clear && !groups.some((group) => kept.has(group))) dropped.add(`${line}:${at}`);
  }
  return all.map((points, index) => points.filter((_, at) => !dropped.has(`${index}:${at}`)));
}

/** Bends in rows of labels, but for the one in the line's own label. No two of them are neighbours. */
function bendsOf(
  { from, to, label }: Line,
  line: number,
  { points, labels }: { points: readonly Point[]; labels: ReadonlyMap<number, readonly Box[]> },
): readonly Bend[] {
  const bends: Bend[] = [];
  for (let at = 1; at < points.length - 1; at++) {
    const [before, point, after] = points.slice(at - 1, at + 2) as [Point, Point, Point];
    const row = labels.get(Math.round(point.y));
    if (row === undefined || (label !== undefined && label.y === point.y && label.x === point.x)) continue;
    const groups: string[] = [];
    if (at === 1) groups.push(`${from}:${before.y}:${before.x < point.x}`);
    if (at === points.length - 2) groups.push(`${to}:${after.y}:${after.x < point.x}`);
    bends.push({ line, at, clear: clears({ from: before, to: after }, row, label), groups });
  }
  return bends;
}

const SAMPLES = 24;

function clears(
  { from, to }: { from: Point; to: Point },
  row: readonly Box[],
  own: Box | undefined,
): boolean {
  for (let nth = 1; nth < SAMPLES; nth++) {
    const { x, y } = swing(from, to, nth / SAMPLES);
    const hit = row.some((box) => {
      const near =
        Math.abs(x - box.x) < box.width / 2 + CLEARANCE && Math.abs(y - box.y) < box.height / 2 + CLEARANCE;
      return near && box !== own;
    });
    if (hit) return false;
  }
  return true;
}

interface End {
  readonly key: string;
  readonly wish: number;
}

function endsBySide(boxes: readonly Box[], lines: readonly Line[]): ReadonlyMap<string, Point> {
  const wishes = new Map<string, { box: Box; y: number; ends: End[] }>();
  const add = (index: number, lower: boolean, end: End) => {
    const box = boxes[index] as Box;
    const key = `${index}:${lower}`;
    const side = wishes.get(key) ?? { box, y: box.y + (lower ? 1 : -1) * (box.height / 2), ends: [] };
    side.ends.push(end);
    wishes.set(key, side);
  };
  for (const [index, { from, to, via }] of lines.entries()) {
    if (from === to) continue;
    const down = (boxes[from] as Box).y < (boxes[to] as Box).y;
    add(from, down, { key: `${index}:from`, wish: via[0]?.x ?? (boxes[to] as Box).x });
    add(to, !down, { key: `${index}:to`, wish: via.at(-1)?.x ?? (boxes[from] as Box).x });
  }
  const ends = new Map<string, Point>();
  for (const { box, y, ends: here } of wishes.values()) {
    const reach = Math.max(0, box.width / 2 - CORNER);
    const side = { left: box.x - reach, right: box.x + reach };
    const places = placeEnds(
      side,
      here.map((end) => end.wish),
    );
    for (const [nth, end] of here.entries()) ends.set(end.key, { x: places[nth] as number, y });
  }
  return ends;
}
