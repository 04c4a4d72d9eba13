// P6: the full trace of a run of 10,000 steps, every row with its artifacts; and any single row of it.

import { join } from "node:path";
import { fold } from "../src/core/apply.ts";
import { type TraceRow, Tracer, traceOf } from "../src/core/trace.ts";
import type { Store } from "../src/engine/ports.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import type { Figure } from "./figure.ts";
import { loopEngine } from "./loop.ts";
import { interleaved, median, quickest } from "./measure.ts";

const STEPS = 10_000;
const PAGE = 1_000;

export async function wholeTrace(folder: string): Promise<readonly Figure[]> {
  await using loop = loopEngine(await openSqliteStore(join(folder, "trace.db")), "replace");
  await loop.steps("run", STEPS);
  const { store } = loop.engine;
  let turn = 1;
  const cases = {
    whole: () => whole(store),
    row: () => row(store, (turn = ((turn + 3_571) % STEPS) + 1)),
  };
  const times = await interleaved(cases, { rounds: 40, warmUp: 3, forMs: 20_000 });
  const figure = (what: string, list: readonly number[], max: number): Figure => {
    return { id: "P6", what, value: median(list), quickest: quickest(list), unit: "ms", bar: { max } };
  };
  return [figure("trace of 10,000 steps", times.whole, 100), figure("one row of it", times.row, 5)];
}

/** By pages, as the commands read: a journal need not be in memory at once. */
async function whole(store: Store): Promise<void> {
  const tracer = new Tracer();
  const trace: TraceRow[] = [];
  for (let from = 1; from <= STEPS; from += PAGE) {
    for (const turn of await store.rows("run", { from, to: STEPS, limit: PAGE }))
      trace.push(...tracer.take(turn));
  }
  if (trace.length !== STEPS) throw new Error(`the trace has ${trace.length} rows`);
}

async function row(store: Store, turn: number): Promise<void> {
  const before = await store.loadAt("run", turn - 1);
  const rows = await store.rows("run", { from: turn, to: turn, limit: 1 });
  const found = [...traceOf(rows, fold(before?.rows ?? [], before?.snapshot))];
  if (found.length !== 1) throw new Error(`turn ${turn} has no row`);
}
