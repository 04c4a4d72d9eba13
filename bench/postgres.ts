// P8: steps a second of 64 runs in PostgreSQL, over those of DBOS on the same server, which flushes every commit.
// Both are processes of their own and take turns, each time with a database of its own. Beside the figure: the
// curve over the number of processes, and the design in which every ask is a job of graphile-worker. The peers are
// installed by hand in bench/peers/postgres; without them there is nothing to compare with.

import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openPostgresStore } from "../src/store/postgres/postgres-store.ts";
import { type PostgresServer, startPostgres } from "../test/postgres-server.ts";
import type { Figure } from "./figure.ts";
import { beginLoops } from "./loop.ts";
import { median } from "./measure.ts";

const RUNS = 64;
const ROUNDS = 5;
const WARM_MS = 3_000;
const MEASURED_MS = 4_000;

type Peer = "packloop" | "dbos" | "graphile";

interface Rate {
  readonly perSecond: number;
  /** Microseconds of processor for a step, of the processes and of the server. */
  readonly cpuUs: number;
}

const programs: Readonly<Record<Peer, string>> = {
  packloop: fileURLToPath(new URL("postgres-worker.ts", import.meta.url)),
  dbos: fileURLToPath(new URL("peers/postgres/dbos.mjs", import.meta.url)),
  graphile: fileURLToPath(new URL("peers/postgres/graphile.mjs", import.meta.url)),
};

export async function postgresRate(): Promise<readonly Figure[]> {
  if (!existsSync(new URL("peers/postgres/node_modules", import.meta.url)))
    throw new Error("the peers of P8 are not installed (npm install in bench/peers/postgres)");
  await using server = await startPostgres({ fsync: true });
  const cases: readonly (readonly [Peer, number])[] = [
    ["packloop", 2],
    ["dbos", 2],
    ["graphile", 2],
    ["packloop", 1],
    ["packloop", 4],
  ];
  const rates = new Map<string, Rate[]>(cases.map(([peer, processes]) => [`${peer} ${processes}`, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [peer, processes] of cases)
      rates.get(`${peer} ${processes}`)?.push(await rateOf(server, peer, processes));
  const of = (name: string) => (rates.get(name) ?? []).map(({ perSecond }) => perSecond);
  const shown = [...rates].map(([name, list]) => {
    const [perSecond, cpuUs] = [
      median(list.map((one) => one.perSecond)),
      median(list.map((one) => one.cpuUs)),
    ];
    return `${name}: ${Math.round(perSecond)}/s, ${Math.round(cpuUs)} us of processor`;
  });
  const over = of("packloop 2").map((rate, round) => rate / (of("dbos 2")[round] as number));
  return [
    {
      ...{ id: "P8", what: "64 runs of 2 workers in PostgreSQL", value: median(over), unit: "x DBOS" },
      ...{ bar: { min: 5 }, quickest: Math.max(...over), from: shown.join("; ") },
    },
  ];
}

let databases = 0;

async function rateOf(server: PostgresServer, peer: Peer, processes: number): Promise<Rate> {
  const database = `bench${++databases}`;
  await server.run(`CREATE DATABASE ${database}`);
  const url = server.url({ database });
  await prepare(server, database, peer);
  const children: ChildProcess[] = [];
  try {
    for (let n = 0; n < processes; n++) {
      const args = [url, `worker-${n}`, String(RUNS / processes)];
      const child = fork(programs[peer], args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
      children.push(child);
      const [said] = (await Promise.race([once(child, "message"), once(child, "exit")])) as [unknown];
      if (said !== "ready") throw new Error(`${peer} did not start`);
    }
    await wait(WARM_MS);
    const all = [...children.map(({ pid = 0 }) => pid), ...childrenOf(server.pid())];
    const [before, cpu, began] = [await steps(children), cpuMs(all), performance.now()];
    await wait(MEASURED_MS);
    const made = (await steps(children)) - before;
    return {
      perSecond: (made * 1_000) / (performance.now() - began),
      cpuUs: ((cpuMs(all) - cpu) * 1_000) / made,
    };
  } finally {
    for (const child of children) {
      const ended = once(child, "exit");
      if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL")) await ended;
    }
    await server.run(`DROP DATABASE ${database} WITH (FORCE)`);
  }
}

/** What is there before the processes come. */
async function prepare(server: PostgresServer, database: string, peer: Peer): Promise<void> {
  const ids = Array.from({ length: RUNS }, (_, index) => `run-${index}`);
  if (peer === "packloop") {
    await using store = await openPostgresStore(server.url({ database }));
    await beginLoops(store, ids);
  } else if (peer === "graphile") {
    const { runMigrations } = (await import(
      new URL("peers/postgres/node_modules/graphile-worker/dist/index.js", import.meta.url).href
    )) as { runMigrations: (options: { connectionString: string }) => Promise<void> };
    await runMigrations({ connectionString: server.url({ database }) });
    await server.run(GRAPHILE, database);
  }
}

const GRAPHILE = `
  CREATE TABLE bench_head (run bigint PRIMARY KEY, turn integer NOT NULL) WITH (fillfactor = 40);
  CREATE TABLE bench_turn (run bigint, turn integer, facts text NOT NULL, PRIMARY KEY (run, turn));
  INSERT INTO bench_head SELECT run, 0 FROM generate_series(1, ${RUNS}) AS run;
  SELECT count(*) FROM bench_head, graphile_worker.add_job('ask', json_build_object('run', run, 'turn', 1))`;

async function steps(children: readonly ChildProcess[]): Promise<number> {
  let sum = 0;
  for (const child of children) {
    const told = once(child, "message") as Promise<[number]>;
    child.send("steps");
    sum += (await told)[0];
  }
  return sum;
}

function childrenOf(pid: number): readonly number[] {
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" });
  return stdout.split("\n").map(Number).filter(Boolean);
}

/** Hundredths of a second are what Linux counts in. */
const TICK_MS = 10;

/** Processor time so far; of those that have ended, none. */
function cpuMs(pids: readonly number[]): number {
  let sum = 0;
  for (const pid of pids) {
    const path = `/proc/${pid}/stat`;
    const fields = existsSync(path) ? (readFileSync(path, "utf8").split(") ")[1] ?? "").split(" ") : [];
    sum += (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
  }
  return sum;
}
