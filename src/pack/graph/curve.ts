// A smooth line through points that go steadily up or down: horizontal moves never overshoot, so a curve
// stays inside the corridor its points were given.

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** How far the handles of a piece reach, as a share of its height: a third keeps straight lines straight. */
const REACH = 1 / 3;
/** Between two vertical ends a longer reach gives a rounder swing. */
const SWING = 0.55;

/** SVG path data. The line leaves the first point and meets the last one vertically. */
export function curveThrough(points: readonly Point[]): string {
  const [first, ...rest] = points as readonly [Point, ...Point[]];
  const slopes = slopesOf(points);
  let path = `M${number(first.x)} ${number(first.y)}`;
  let before = first;
  for (const [index, point] of rest.entries()) {
    const leave = slopes[index] as number;
    const arrive = slopes[index + 1] as number;
    const handle = (point.y - before.y) * (leave === 0 && arrive === 0 ? SWING : REACH);
    path += ` C${number(before.x + leave * handle)} ${number(before.y + handle)}`;
    path += ` ${number(point.x - arrive * handle)} ${number(point.y - handle)}`;
    path += ` ${number(point.x)} ${number(point.y)}`;
    before = point;
  }
  return path;
}

/** The point at `t` (0 to 1) of a piece that is vertical at both ends. */
export function swing(from: Point, to: Point, t: number): Point {
  const s = 1 - t;
  const handle = (to.y - from.y) * SWING;
  const near = s * s * s + 3 * s * s * t;
  const [near2, far2] = [3 * s * s * t * handle, 3 * s * t * t * handle];
  return { x: near * from.x + (1 - near) * to.x, y: near * from.y + (1 - near) * to.y + near2 - far2 };
}

/** How fast x moves with y at each point: the harmonic mean of both sides, zero at a turn and at the ends. */
function slopesOf(points: readonly Point[]): readonly number[] {
  const secants: number[] = [];
  for (let at = 1; at < points.length; at++) {
    const from = points[at - 1] as Point;
    const to = points[at] as Point;
    secants.push(to.y === from.y ? 0 : (to.x - from.x) / (to.y - from.y));
  }
  return points.map((_, at) => {
    const before = secants[at - 1];
    const after = secants[at];
    if (before === undefined || after === undefined || before * after <= 0) return 0;
    return (2 * before * after) / (before + after);
  });
}

/** Tenths of a pixel are enough, and the same number always prints alike. */
export function number(value: number): string {
  const rounded = Math.round(value * 10) / 10;
  return String(rounded === 0 ? 0 : rounded);
}
