// Where a row of the trace lies in the journal. Rows are not counted turn by turn: a folded run says how many
// there were by then, so the place is found between a few of them.

import type { Run } from "../core/run.ts";
import type { Store } from "../engine/ports.ts";
import { runAt } from "../host/stored-runs.ts";

/** A turn, and the rows up to it. */
export interface RowPlace {
  readonly turn: number;
  readonly rows: number;
}

/** So few turns are gone through to come to the row: reading them twice to begin nearer would cost more. */
const WINDOW = 400;

/** A place before the row, at most so many turns. `run` is at its last turn. */
export async function placeBefore(
  store: Store,
  { id, row, run }: { readonly id: string; readonly row: number; readonly run: Run },
): Promise<RowPlace> {
  const wanted = row - 1;
  if (wanted === 0) return { turn: 0, rows: 0 };
  let low: RowPlace = { turn: 0, rows: 0 };
  let high: RowPlace = { turn: run.turn, rows: rowsOf(run) };
  if (high.rows < wanted) return high;
  // Every third look halves what is left, so that no run needs more than a few dozen.
  for (let look = 0; high.turn - low.turn > WINDOW; look++) {
    const turn = lookedAt(low, high, { wanted, look });
    const found = { turn, rows: rowsOf(await runAt(store, id, turn)) };
    if (found.rows < wanted) low = found;
    else high = found;
  }
  return low;
}

/** A little before and a little after where the row would be if all visits were equally long. */
function lookedAt(
  low: RowPlace,
  high: RowPlace,
  { wanted, look }: { readonly wanted: number; readonly look: number },
): number {
  const turns = high.turn - low.turn;
  const share = look % 3 === 2 ? 0.5 : (wanted - low.rows) / Math.max(1, high.rows - low.rows);
  const aside = [-WINDOW / 3, WINDOW / 3, 0][look % 3] ?? 0;
  const guess = Math.round(low.turn + share * turns + aside);
  return Math.max(low.turn + 1, Math.min(guess, high.turn - 1));
}

/** One for every visit. */
const rowsOf = ({ visits }: Run): number => Object.values(visits).reduce((sum, count) => sum + count, 0);
