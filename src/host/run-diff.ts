// Two runs, or two turns of one, side by side: reads only what they do not share.

import { type Difference, type DiffSide, diffRuns } from "../core/diff.ts";
import type { TurnRow } from "../core/facts.ts";
import { emptyRun } from "../core/run.ts";
import { type SummaryUsed, usedOf } from "../core/summary.ts";
import type { Store } from "../engine/ports.ts";
import { commonPast } from "./common-past.ts";
import { type LoadedRun, runAt, turnsOf } from "./stored-runs.ts";

export interface RunDiff extends Difference {
  readonly a: DiffEnd;
  readonly b: DiffEnd;
}

interface DiffEnd {
  readonly run: string;
  readonly turn: number;
  readonly state: string | null;
  readonly used: SummaryUsed;
}

export async function runDiff(store: Store, a: LoadedRun, b: LoadedRun): Promise<RunDiff> {
  const common = await commonPast(store, a, b);
  const found = diffRuns(await sideOf(store, a, common), await sideOf(store, b, common));
  return { ...found, a: endOf(a), b: endOf(b) };
}

async function sideOf(store: Store, { id, turn }: LoadedRun, common: number): Promise<DiffSide> {
  const start = common === 0 ? emptyRun : await runAt(store, id, common);
  const rows: TurnRow[] = [];
  for await (const row of turnsOf(store, id, { from: common + 1, to: turn })) rows.push(row);
  return { start, rows };
}

const endOf = ({ id, turn, run }: LoadedRun): DiffEnd => ({
  run: id,
  turn,
  state: run.state,
  used: usedOf(run),
});
