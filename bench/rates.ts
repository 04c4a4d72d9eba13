// P1, P2: steps a second of one run, and of many at once, over the rate of raw commits in the same run.

import { join } from "node:path";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import type { Figure } from "./figure.ts";
import { loopEngine } from "./loop.ts";
import { interleaved, median, ratio } from "./measure.ts";
import { rawCommits } from "./raw-commits.ts";

const STEPS = 100;
const RUNS = 128;
const STEPS_EACH = 25;

export async function rates(folder: string): Promise<readonly Figure[]> {
  using raw = rawCommits(folder);
  await using alone = loopEngine(await openSqliteStore(join(folder, "alone.db")), "replace");
  await using many = loopEngine(await openSqliteStore(join(folder, "many.db")), "replace");
  const names = Array.from({ length: RUNS }, (_, n) => `run-${n}`);
  const times = await interleaved(
    {
      raw: () => raw.commit(STEPS),
      alone: () => alone.steps("run", STEPS),
      many: () => Promise.all(names.map((run) => many.steps(run, STEPS_EACH))),
    },
    // The first rounds start the commit thread, and bring the runs past their first steps.
    { rounds: 200, warmUp: 5, forMs: 30_000 },
  );
  const figure = (id: string, what: string, list: readonly number[], steps: number, min: number): Figure => {
    const each = list.map((ms) => (ms * STEPS) / steps);
    const { value, quickest } = ratio(times.raw, each);
    const us = (ms: readonly number[]) => ((median(ms) / STEPS) * 1_000).toFixed(0);
    const from = `${us(each)} us a step, raw ${us(times.raw)} us`;
    return { id, what, value, quickest, unit: "x raw", bar: { min }, from };
  };
  return [
    figure("P1", "rate of one run", times.alone, STEPS, 0.5),
    figure("P2", "rate of 128 runs together", times.many, RUNS * STEPS_EACH, 2),
  ];
}
