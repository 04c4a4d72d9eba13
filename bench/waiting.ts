// P9: 100,000 runs that wait for somebody: what each keeps in memory, and how soon an event to one is taken.

import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Submitted } from "../src/engine/door.ts";
import { Engine } from "../src/engine/engine.ts";
import { systemClock } from "../src/engine/system-clock.ts";
import { openPack } from "../src/pack/open-pack.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import type { Figure } from "./figure.ts";
import { median, quickest } from "./measure.ts";

const FEW = 20_000;
const MANY = 100_000;
const TOGETHER = 500;
const EVENTS = 300;

const PACK = `id: inbox
name: Inbox
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Wait. }
workflow:
  version: 2
  entry: ask
  states:
    ask: { prompt_task: p, orchestration: external, on_event: { Again: wait } }
    wait: { prompt_task: p, orchestration: external, on_event: { Again: ask } }
`;

export async function waiting(folder: string): Promise<readonly Figure[]> {
  const store = await openSqliteStore(join(folder, "waiting.db"));
  const clock = systemClock();
  const portsOf = () => Promise.reject(new Error("nothing is to be performed"));
  await using engine = new Engine({ store, clock, portsOf });
  await startRuns(engine, 0, FEW);
  const few = memoryInUse();
  await startRuns(engine, FEW, MANY);
  const many = memoryInUse();
  const perRun = Math.max(0, many.heap - few.heap) / (MANY - FEW);
  const resident = `the process grew by ${((many.resident - few.resident) / 2 ** 20).toFixed(0)} MiB`;
  const times: number[] = [];
  for (let i = 0; i < EVENTS; i++) {
    const run = nameOf((i * 7_919) % MANY);
    const start = performance.now();
    const taken = await engine.submit(run, { type: "event", at: clock.now(), name: "Again", by: "bench" });
    times.push(performance.now() - start);
    done(taken);
  }
  const worst = `slowest of ${EVENTS}: ${Math.max(...times).toFixed(1)} ms`;
  return [
    // A collector never gives the same figure twice; an object per run would take fifty bytes and more.
    {
      id: "P9",
      what: "memory for each of 100,000 waiting runs",
      value: perRun,
      unit: "bytes",
      bar: { max: 8 },
      from: resident,
    },
    {
      id: "P9",
      what: "an event to one of them",
      value: median(times),
      quickest: quickest(times),
      unit: "ms",
      bar: { max: 20 },
      from: worst,
    },
  ];
}

export const nameOf = (n: number): string => `run-${n}`;

export async function startRuns(engine: Engine, from: number, to: number): Promise<void> {
  const opened = openPack(PACK);
  if (!opened.ok) throw opened.toError();
  const { program, digest } = opened;
  const input = { mode: "autonomous", variables: {}, input: "" } as const;
  for (let first = from; first < to; first += TOGETHER) {
    const ids = Array.from({ length: Math.min(TOGETHER, to - first) }, (_, n) => nameOf(first + n));
    const start = (id: string) => engine.start({ id, program, digest, source: PACK, setup: {}, input });
    for (const made of await Promise.all(ids.map(start))) done(made);
  }
}

function done(submitted: Submitted): void {
  if (submitted.kind !== "done") throw new Error(`not taken: ${JSON.stringify(submitted)}`);
}

/** After a full collection. */
function memoryInUse(): { readonly heap: number; readonly resident: number } {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let i = 0; i < 3; i++) collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, resident: rss };
}
