// P5: a process that drives a run is killed with SIGKILL; how soon the next one has made a new step, counted
// from when its program has been loaded. For a run of 100,000 steps and for one of 100.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import type { Figure } from "./figure.ts";
import { loopEngine } from "./loop.ts";
import { median, quickest, ratio } from "./measure.ts";

const SHORT = 100;
const LONG = 100_000;
const KILLS = 15;

const program = fileURLToPath(new URL("resume-process.ts", import.meta.url));

export async function resume(folder: string): Promise<readonly Figure[]> {
  const stores = { short: join(folder, "short.db"), long: join(folder, "long.db") };
  await grow(stores.short, SHORT);
  await grow(stores.long, LONG);
  const times = { short: [] as number[], long: [] as number[] };
  for (let round = -2; round < KILLS; round++) {
    for (const name of ["short", "long"] as const) {
      const ms = await firstStep(stores[name]);
      if (round >= 0) times[name].push(ms);
    }
  }
  const { value, quickest: best } = ratio(times.long, times.short);
  return [
    {
      id: "P5",
      what: "first new step after SIGKILL, 100,000 steps",
      value: median(times.long),
      quickest: quickest(times.long),
      unit: "ms",
      bar: { max: 100 },
    },
    { id: "P5", what: "the same over 100 steps", value, quickest: best, unit: "x", bar: { max: 1.5 } },
  ];
}

async function grow(path: string, steps: number): Promise<void> {
  await using loop = loopEngine(await openSqliteStore(path), "replace");
  await loop.steps("run", steps);
}

/** Lets a process go on with the run, hears what its first step took, and kills it amid others. */
async function firstStep(path: string): Promise<number> {
  const child = spawn(process.execPath, [program, path, "run"], { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exit.then(() => Promise.reject(new Error("the process ended by itself"))),
  ])) as [string];
  child.kill("SIGKILL");
  await exit;
  return Number(line);
}
