// How far two runs are known to share one past: a run with itself, a fork with its origin, two forks of one
// run. What they share need not be read to compare them.

import type { Store } from "../engine/ports.ts";
import { type LoadedRun, runAt } from "./stored-runs.ts";

/** Forks of forks that are followed; beyond that the runs are simply read from their beginning. */
const GENERATIONS_MAX = 100;

/** The last turn that is the same in both, 0 when nothing is known. */
export async function commonPast(store: Store, a: LoadedRun, b: LoadedRun): Promise<number> {
  const ofA = await lineage(store, a);
  const ofB = await lineage(store, b);
  let common = 0;
  for (const [run, turn] of ofA) common = Math.max(common, Math.min(turn, ofB.get(run) ?? 0));
  return common;
}

/** The run and those it was forked from, each with the last of its turns that the run contains. */
export async function lineage(
  store: Store,
  { id, turn, run }: Pick<LoadedRun, "id" | "turn" | "run">,
): Promise<ReadonlyMap<string, number>> {
  const found = new Map([[id, turn]]);
  let from = run.forkedFrom;
  for (let reach = turn; from !== null && found.size < GENERATIONS_MAX; ) {
    reach = Math.min(reach, from.turn);
    found.set(from.run, reach);
    // An origin that was removed cannot say where it came from itself.
    if ((await store.record(from.run)) === undefined) break;
    from = (await runAt(store, from.run, reach)).forkedFrom;
  }
  return found;
}
