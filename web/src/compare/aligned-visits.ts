// Visits of two runs in one order: those both made stand beside each other.

import type { TraceRow } from "../../../src/core/trace.ts";
import type { RunDiff } from "../../../src/host/run-diff.ts";

export interface AlignedVisit {
  readonly state: string;
  readonly visit: number;
  readonly left: TraceRow | undefined;
  readonly right: TraceRow | undefined;
  /** Indexes of the changes that were made in it. */
  readonly changes: readonly number[];
}

const keyOf = (state: string, visit: number): string => `${visit} ${state}`;

/** In the order of the first run; what only the second made stands where it made it. */
export function alignedVisits(
  left: readonly TraceRow[],
  right: readonly TraceRow[],
  { changes }: RunDiff,
): readonly AlignedVisit[] {
  const changesByKey = new Map<string, number[]>();
  for (const [index, { state, visit }] of changes.entries()) {
    const key = keyOf(state, visit);
    const known = changesByKey.get(key);
    if (known === undefined) changesByKey.set(key, [index]);
    else known.push(index);
  }
  const others = new Map(right.map((row, place) => [keyOf(row.to, row.visit), { row, place }]));
  const found: (AlignedVisit & { readonly at: number })[] = [];
  const add = (row: TraceRow, at: number, sides: Pick<AlignedVisit, "left" | "right">): void => {
    const key = keyOf(row.to, row.visit);
    found.push({ state: row.to, visit: row.visit, ...sides, changes: changesByKey.get(key) ?? [], at });
  };
  for (const [at, row] of left.entries()) {
    const other = others.get(keyOf(row.to, row.visit));
    others.delete(keyOf(row.to, row.visit));
    add(row, at, { left: row, right: other?.row });
  }
  for (const { row, place } of others.values()) add(row, place, { left: undefined, right: row });
  return found.toSorted((one, two) => one.at - two.at);
}
