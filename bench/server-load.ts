// S1: runs a second that a server starts and brings to their end while 1,000 are in flight and 200 of them are
// followed; what it takes in memory, and that no follower misses a turn.

import { join } from "node:path";
import type { Figure } from "./figure.ts";
import { ServerProcess } from "./server-process.ts";

const RUNS = 1_000;
const FOLLOWERS = 200;
const AT_ONCE = 50;

const PACK = `id: load
name: Load
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go on. }
workflow:
  version: 2
  entry: work
  engine: { budget: { max_total_visits: 20 } }
  states:
    work: { prompt_task: p, on_event: { Again: work, Done: end } }
    end: { prompt_task: p, terminal: true }
`;

/** Nobody ends before everybody has begun. */
const SCRIPT = {
  states: {
    work: [{ event: "Again", delay_ms: 3_000 }, { event: "Again" }, { event: "Again" }, { event: "Done" }],
    end: [{ text: "Bye." }],
  },
};

export async function serverLoad(folder: string): Promise<readonly Figure[]> {
  await using server = await ServerProcess.start(folder, join(folder, "load.db"));
  const idle = server.memory;
  const { digest } = await server.json("/api/packs", { source: PACK });
  const began = performance.now();
  const runs: string[] = [];
  const startSome = async () => {
    while (runs.length < RUNS) {
      runs.push("");
      const place = runs.length - 1;
      runs[place] = String((await server.json("/api/runs", { digest, script: SCRIPT }))["run"]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, startSome));
  const started = performance.now();
  const followed = await Promise.all(runs.slice(0, FOLLOWERS).map((run) => turnsOf(server.url, run)));
  let most = server.memory;
  for (;;) {
    const { items } = await server.json("/api/runs?status=running&limit=1");
    most = Math.max(most, server.memory);
    if ((items as unknown[]).length === 0) break;
  }
  const seconds = (performance.now() - began) / 1000;
  const turns = followed.map(({ ids, last }) => ids.length === last && ids.every((id, at) => id === at + 1));
  const lost = turns.filter((isWhole) => !isWhole).length;
  const from = `${RUNS} runs in ${seconds.toFixed(1)} s, 3 s of it a model's; started at ${rate(started - began)}`;
  return [
    {
      id: "S1",
      what: "runs with 200 followers",
      value: RUNS / seconds,
      unit: "runs/s",
      bar: { min: 50 },
      from,
    },
    { id: "S1", what: "followers that missed a turn", value: lost, unit: "of 200", bar: { max: 0 } },
    {
      id: "S1",
      what: "memory with 1,000 runs in flight",
      value: most,
      unit: "MiB",
      bar: { max: 500 },
      from: `${idle.toFixed(0)} MiB when idle`,
    },
  ];
}

const rate = (ms: number): string => `${(RUNS / (ms / 1000)).toFixed(0)}/s`;

/** Ids of the turns as they came, and how many the server says there are. */
async function turnsOf(
  url: string,
  run: string,
): Promise<{ readonly ids: readonly number[]; readonly last: number }> {
  const response = await fetch(`${url}/api/runs/${run}/stream?after=0`);
  const text = await response.text();
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  return { ids, last: Number(/"turns":(\d+)/.exec(text)?.[1] ?? 0) };
}
