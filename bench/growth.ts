// P3, P4: what a step takes, and how much it leaves on the disk, after 100 steps and after 50,000.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import type { Figure } from "./figure.ts";
import { loopEngine, type WriteMode } from "./loop.ts";
import { interleaved, median, ratio } from "./measure.ts";

const SHORT = 100;
const LONG = 50_000;
/** Where the size of a step is looked at first: past it a step must not take more. */
const EARLY = 5_000;
const STEPS = 10;

export async function growth(folder: string): Promise<readonly Figure[]> {
  return [...(await growthOf(folder, "replace", 700)), ...(await growthOf(folder, "append", 800))];
}

async function growthOf(folder: string, mode: WriteMode, bytesMax: number): Promise<readonly Figure[]> {
  const path = join(folder, `long-${mode}.db`);
  await using long = loopEngine(await openSqliteStore(path), mode);
  await using short = loopEngine(await openSqliteStore(join(folder, `short-${mode}.db`)), mode);
  await long.steps("run", EARLY);
  const early = bytesOf(path) / EARLY;
  await long.steps("run", LONG - EARLY);
  const bytes = bytesOf(path) / LONG;
  const times = await compared(short, long);
  const { value, quickest } = ratio(times.long, times.short);
  const us = (ms: readonly number[]) => `${((median(ms) / STEPS) * 1_000).toFixed(0)} us`;
  const from = `${us(times.short)} and ${us(times.long)} a step`;
  const figure = { unit: "bytes", bar: { max: bytesMax } };
  return [
    {
      id: "P3",
      what: `step 50,000 over step 100, ${mode}`,
      value,
      quickest,
      unit: "x",
      bar: { max: 1.25 },
      from,
    },
    {
      id: "P4",
      what: `a step of 50,000, ${mode}`,
      value: bytes,
      ...figure,
      from: `${early.toFixed(0)} of 5,000`,
    },
  ];
}

type Loop = ReturnType<typeof loopEngine>;

/** Every round takes a new short run to its hundredth step, and both on from there. */
async function compared(short: Loop, long: Loop) {
  let round = 0;
  const name = () => `run-${round}`;
  const cases = {
    grow: () => {
      round++;
      return short.steps(name(), SHORT);
    },
    short: () => short.steps(name(), STEPS),
    // As the short one, so that the two find the disk and the caches alike.
    again: () => long.steps("run", SHORT),
    long: () => long.steps("run", STEPS),
  };
  return interleaved(cases, { rounds: 60, warmUp: 3, forMs: 20_000 });
}

/** The whole store, what is still in the log of the database included. */
function bytesOf(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  const of = (pragma: string) => Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0] as number;
  const bytes = of("page_count") * of("page_size");
  db.close();
  return bytes;
}
