// P9 over HTTP: lists, the inbox and an event while 100,000 runs wait.

import { join } from "node:path";
import { Engine } from "../src/engine/engine.ts";
import { systemClock } from "../src/engine/system-clock.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import type { Figure } from "./figure.ts";
import { median, quickest } from "./measure.ts";
import { ServerProcess } from "./server-process.ts";
import { nameOf, startRuns } from "./waiting.ts";

const RUNS = 100_000;
const ROUNDS = 40;

export async function serverWaiting(folder: string): Promise<readonly Figure[]> {
  const path = join(folder, "served.db");
  {
    const store = await openSqliteStore(path);
    const portsOf = () => Promise.reject(new Error("nothing is to be performed"));
    await using engine = new Engine({ store, clock: systemClock(), portsOf });
    await startRuns(engine, 0, RUNS);
  }
  await using server = await ServerProcess.start(folder, path);
  const lists = [
    ["all runs", ""],
    ["waiting ones", "status=waiting"],
    ["failed ones (none)", "status=failed"],
    ["of a pack", "pack=inbox"],
    ["of another pack (none)", "pack=other"],
    ["of a pack that wait", "pack=inbox&status=waiting"],
    ["called by nobody", "parent="],
    ["with a text (deep)", `text=${nameOf(RUNS - 1_500)}`],
  ] as const;
  const figures: Figure[] = [];
  for (const [what, query] of lists)
    figures.push(await timed(`first page: ${what}`, () => server.json(`/api/runs?${query}`), 200));
  figures.push(await timed("first page of the inbox", () => server.json("/api/inbox"), 200));
  const { next_cursor: next } = await server.json("/api/inbox");
  figures.push(
    await timed("next page of the inbox", () => server.json(`/api/inbox?cursor=${String(next)}`), 200),
  );
  let count = 0;
  const send = () =>
    server.json(`/api/runs/${nameOf((count++ * 7_919) % RUNS)}/events`, { name: "Again", by: "bench" });
  figures.push(await timed("an event over HTTP", send, 20));
  return figures;
}

async function timed(what: string, work: () => Promise<unknown>, max: number): Promise<Figure> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  const from = `slowest of ${ROUNDS}: ${Math.max(...times).toFixed(1)} ms`;
  return { id: "P9", what, value: median(times), quickest: quickest(times), unit: "ms", bar: { max }, from };
}
