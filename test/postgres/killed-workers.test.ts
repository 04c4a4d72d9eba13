// F3, F9 on PostgreSQL: worker processes are killed at random and started again, the server crashes and is
// restarted, connections are cut. `PACKLOOP_FAULTS=all` kills more.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, postgresMissing, startPostgres } from "../postgres-server.ts";
import { Dice } from "../sim/dice.ts";
import { Ledger } from "./ledger.ts";
import { CALLS_PER_RUN } from "./ledger-pack.ts";
import { LedgerRuns } from "./ledger-runs.ts";
import { Takeovers } from "./takeovers.ts";
import { Workers } from "./workers.ts";

const MINUTES = 60_000;
const all = process.env["PACKLOOP_FAULTS"] === "all";
const RUNS = all ? 256 : 64;
/** Calls between two accidents. */
const EVERY = 30;
const SEED = Number(process.env["PACKLOOP_SEED"] ?? 1);

describe.skipIf(postgresMissing() !== undefined)("a PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("64 runs of 4 workers end as if nobody had been killed", { timeout: 30 * MINUTES }, async () => {
    const url = server.url();
    await using runs = await LedgerRuns.open(url);
    await using ledger = await Ledger.open(runs.store);
    const ids = Array.from({ length: RUNS }, (_, index) => `r_${index}`);
    await runs.start(["r_whole", ...ids]);
    await using workers = await Workers.start({ url, ledger: ledger.url, count: 4, runs: RUNS / 4 });
    await using takeovers = new Takeovers(url);
    const accidents = plan(Math.floor((RUNS * CALLS_PER_RUN) / EVERY) - 1);
    let [before, accident] = [Promise.resolve(), Promise.resolve()];
    ledger.called = async (_call, nth) => {
      const next = nth % EVERY === 0 ? accidents.shift() : undefined;
      if (next !== undefined) {
        before = accident;
        accident = accident.then(() => happen({ next, server, workers, takeovers }));
      }
      // Or the runs would be over before the accidents are.
      await before;
    };
    await runs.untilEnded(["r_whole", ...ids], ledger);
    await accident;

    expect(accidents).toEqual([]);
    expect(ledger.wrong).toEqual([]);
    const whole = await undisturbed(url);
    const ways = new Map<string, string[]>();
    for (const id of ids) {
      const way = await runs.wayOf(id);
      ways.set(way, [...(ways.get(way) ?? []), id]);
    }
    expect([...ways.keys()], "every run went the way of an undisturbed one").toEqual([whole]);
    const payments = ledger.calls.filter(({ name }) => name === "pay").map(({ key }) => key);
    expect(new Set(payments).size, "each payment reached the ledger once").toBe(payments.length);
    const repeated = ledger.calls.length - (RUNS + 1) * CALLS_PER_RUN;
    process.stdout.write(
      `${workers.kills} kills, ${repeated} calls repeated, takeovers ${takeovers.text()}\n`,
    );
  });

  test("a worker that was stopped past its time finds its run gone on, and changes nothing", async () => {
    const url = `${server.url()}&schema=stopped`;
    await using runs = await LedgerRuns.open(url);
    await using ledger = await Ledger.open(runs.store);
    await using workers = await Workers.start({ url, ledger: ledger.url, count: 2 });
    const isOver = Promise.withResolvers<void>();
    let stopped = 0;
    ledger.called = async ({ pid }, nth) => {
      if (nth !== 1) return;
      stopped = pid;
      workers.signal(pid, "SIGSTOP");
      await isOver.promise;
    };
    await runs.start(["r_stopped"]);
    await runs.untilEnded(["r_stopped"], ledger);
    const way = await runs.wayOf("r_stopped");
    isOver.resolve();
    workers.signal(stopped, "SIGCONT");
    expect(await workers.end(stopped)).toBe(0);
    expect(await runs.wayOf("r_stopped")).toBe(way);
    expect(ledger.wrong).toEqual([]);
    expect(ledger.calls.map(({ pid }) => pid === stopped)).toEqual([
      true,
      ...Array(CALLS_PER_RUN).fill(false),
    ]);
  });

  /** The same run where nothing happens. */
  async function undisturbed(url: string): Promise<string> {
    const quiet = `${url}&schema=quiet`;
    await using runs = await LedgerRuns.open(quiet);
    await using ledger = await Ledger.open(runs.store);
    await runs.start(["r_quiet"]);
    await using _workers = await Workers.start({ url: quiet, ledger: ledger.url, count: 1 });
    await runs.untilEnded(["r_quiet"], ledger);
    expect(ledger.calls).toHaveLength(CALLS_PER_RUN);
    return await runs.wayOf("r_quiet");
  }
});

type Accident = "kill" | "cut" | "crash" | "restart";

/** Mostly kills; the server goes twice, once in order. */
function plan(count: number): Accident[] {
  const happens = Array.from({ length: count }, (_, index): Accident => (index % 4 === 2 ? "cut" : "kill"));
  happens[Math.floor(count / 3)] = "crash";
  happens[Math.floor((2 * count) / 3)] = "restart";
  return happens;
}

const dice = new Dice(SEED);

interface Scene {
  readonly next: Accident;
  readonly server: PostgresServer;
  readonly workers: Workers;
  readonly takeovers: Takeovers;
}

async function happen({ next, server, workers, takeovers }: Scene): Promise<void> {
  if (next === "kill") {
    const pid = dice.pick(workers.pids);
    const held = await takeovers.heldBy(pid);
    await workers.kill(pid);
    takeovers.died(held);
    await workers.add();
  } else if (next === "cut") await server.cut();
  else {
    await (next === "crash" ? server.crash() : server.stop());
    await server.start();
  }
}
