// How the SQLite store compares with the disk below it: commit rates against raw transactions of one insert
// each, growth, bytes per step, loading and reading short and long runs, and what handing a turn to another
// thread costs. Run with `node bench/store.ts`, or with `rates`, `sizes`, `lengths` or `handover` for one
// part. Rounds are interleaved: on a shared machine only the ratios count.

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { applyTurn, fold } from "../src/core/apply.ts";
import type { Fact, TurnRow } from "../src/core/facts.ts";
import { emptyRun, type Run } from "../src/core/run.ts";
import type { RunCreation, Store } from "../src/engine/ports.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { noteOf } from "./loop.ts";
import { interleaved, median, quickest, ratio } from "./measure.ts";
import { rawCommits } from "./raw-commits.ts";

const folder = mkdtempSync(join(tmpdir(), "packloop-bench-"));
const say = (line: string) => process.stdout.write(`${line}\n`);
const create: RunCreation = {
  digest: "d",
  packId: "bench",
  packVersion: "1.0.0",
  setup: { script: "bench.yaml" },
};

interface LoopTurn {
  readonly row: TurnRow;
  readonly after: Run;
}

/** A loop of two states whose every visit writes one artifact of 100 bytes and moves on. */
class Loop {
  readonly #mode: "replace" | "append";
  #run: Run = emptyRun;

  constructor(mode: "replace" | "append") {
    this.#mode = mode;
  }

  next(): LoopTurn {
    const turn = this.#run.turn + 1;
    const facts = turn === 1 ? this.#first() : this.#visit(turn);
    const row = { turn, at: 1_700_000_000_000 + turn, v: 1, facts };
    this.#run = applyTurn(this.#run, row);
    return { row, after: this.#run };
  }

  #first(): Fact[] {
    const none = { toolCalls: null, modelCalls: null, inputTokens: null, outputTokens: null, costUsd: null };
    return [
      {
        type: "started",
        digest: "d",
        mode: "autonomous",
        state: null,
        prompt: "",
        variables: { topic: "benchmarks" },
        input: "go",
        limits: { visits: null, wallMs: null, ...none },
        parent: null,
        wallClock: "total",
        gated: [],
      },
      ...this.#enter(1, { kind: "entry" }),
    ];
  }

  #visit(turn: number): Fact[] {
    const step = this.#run.step;
    const event = turn % 2 === 0 ? "Written" : "Checked";
    const value = noteOf(turn);
    const calls = [
      { id: "c1", tool: "workflow__set_artifact", args: { name: "notes", value } },
      { id: "c2", tool: "workflow__transition", args: { event } },
    ];
    const usage = { inputTokens: 1_200 + (turn % 7), outputTokens: 85, costUsd: 0.0021 };
    const set = { status: "artifact_set", artifact: "notes" };
    const done = { status: "transition_scheduled", event };
    return [
      {
        type: "answered",
        step,
        outcome: { ok: true, value: { text: "Done.", calls, usage } },
        hash: "9f86d081884c7d659a2feaa0c55ad015",
      },
      {
        type: "wrote",
        artifact: "notes",
        mode: this.#mode,
        json: false,
        value,
        source: { kind: "model", step },
      },
      { type: "noted", what: "result", call: "c1", result: set, error: false },
      { type: "noted", what: "scheduled", event, context: "" },
      { type: "noted", what: "result", call: "c2", result: done, error: false },
      ...this.#enter(turn, { kind: "event", from: this.#run.state ?? "", event }),
    ];
  }

  #enter(turn: number, cause: Extract<Fact, { type: "entered" }>["cause"]): Fact[] {
    const state = turn % 2 === 0 ? "check" : "write";
    const visit = Math.ceil(turn / 2);
    return [
      { type: "entered", state, visit, prompt: `${state}r`, cause, fresh: true, context: "" },
      { type: "asked", step: turn, ask: { kind: "model", round: 1, nth: visit - 1, tools: true } },
    ];
  }
}

function commit(store: Store, run: string, { row, after }: LoopTurn): Promise<boolean> {
  return store.commit({ run, row, after, ...(row.turn === 1 && { create }) });
}

/** Steps of one run with several on their way at once: where the disk is slow, they share a sync. */
async function grow(store: Store, run: string, loop: Loop, steps: number): Promise<void> {
  const together = 64;
  for (let i = 0; i < steps; i += together) {
    const count = Math.min(together, steps - i);
    await Promise.all(Array.from({ length: count }, () => commit(store, run, loop.next())));
  }
}

interface Case {
  readonly steps: number;
  /** Makes the turns, which is not part of the figure, and gives what commits them. */
  readonly prepare: () => () => Promise<void>;
}

function rateCases(store: Store): Readonly<Record<string, Case>> {
  const raw = rawCommits(folder);
  const alone = new Loop("replace");
  const many = Array.from({ length: 128 }, () => new Loop("replace"));
  const steps = 100;
  const each = 25;
  const turnsOf = (loop: Loop, count: number) => Array.from({ length: count }, () => loop.next());
  const commitAll = async (run: string, turns: readonly LoopTurn[]) => {
    for (const turn of turns) await commit(store, run, turn);
  };
  return {
    raw: {
      steps,
      prepare: () => async () => raw.commit(steps),
    },
    "store, 1 run": {
      steps,
      prepare() {
        const turns = turnsOf(alone, steps);
        return () => commitAll("alone", turns);
      },
    },
    "store, 128 runs": {
      steps: many.length * each,
      prepare() {
        const turns = many.map((loop) => turnsOf(loop, each));
        return async () => {
          await Promise.all(turns.map((list, n) => commitAll(`run-${n}`, list)));
        };
      },
    },
  };
}

async function rates(): Promise<void> {
  const store = await openSqliteStore(join(folder, "rates.db"));
  const cases = rateCases(store);
  const times = new Map<string, number[]>(Object.keys(cases).map((name) => [name, []]));
  const until = performance.now() + 15_000;
  for (let round = 0; round < 200 && performance.now() < until; round++) {
    for (const [name, { steps, prepare }] of Object.entries(cases)) {
      const go = prepare();
      const start = performance.now();
      await go();
      // The first rounds warm up, and start the commit thread.
      if (round >= 3) times.get(name)?.push(((performance.now() - start) / steps) * 1_000);
    }
  }
  await store[Symbol.asyncDispose]();
  const base = times.get("raw") as number[];
  for (const [name, list] of times) {
    const ratio = median(list.map((us, i) => (base[i] as number) / us)).toFixed(2);
    const quick = (quickest(base) / quickest(list)).toFixed(2);
    const best = `quickest tenth ${quickest(list).toFixed(1)} us, ${quick} x raw`;
    say(`${name.padEnd(24)}${median(list).toFixed(1).padStart(8)} us a step, ${ratio} x raw; ${best}`);
  }
}

async function sizes(): Promise<void> {
  for (const mode of ["replace", "append"] as const) {
    for (const steps of [1_000, 50_000]) {
      const path = join(folder, `${mode}-${steps}.db`);
      const store = await openSqliteStore(path);
      await grow(store, "r", new Loop(mode), steps);
      await store[Symbol.asyncDispose]();
      const bytes = (statSync(path).size / steps).toFixed(0);
      say(`${`${mode}, ${steps} steps`.padEnd(24)}${bytes.padStart(8)} bytes a step`);
    }
  }
}

/** Times of two cases in turn; medians, and the second over the first. */
async function compare(label: string, cases: readonly (() => Promise<unknown>)[], rounds: number) {
  const times = cases.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, go] of cases.entries()) {
      const start = performance.now();
      await go();
      times[index]?.push(performance.now() - start);
    }
  }
  const [first = 0, second = 0] = times.map(median);
  const ms = `${first.toFixed(3)} and ${second.toFixed(3)} ms`;
  say(`${label.padEnd(46)}${ms.padStart(22)}, ${(second / first).toFixed(2)} x`);
}

async function lengths(): Promise<void> {
  const store = await openSqliteStore(join(folder, "lengths.db"));
  const short = new Loop("append");
  const long = new Loop("append");
  await grow(store, "short", short, 100);
  await grow(store, "long", long, 50_000);
  const tenSteps = (run: string, loop: Loop) => async () => {
    for (let i = 0; i < 10; i++) await commit(store, run, loop.next());
  };
  const steps = [tenSteps("short", short), tenSteps("long", long)];
  await compare("10 steps after 100 and after 50,000, append", steps, 60);
  await grow(store, "100", new Loop("replace"), 100);
  await grow(store, "100,000", new Loop("replace"), 100_000);
  const load = (run: string) => async () => {
    const stored = await store.load(run);
    fold(stored?.rows ?? [], stored?.snapshot);
  };
  await compare("load after 100 and after 100,000", [load("100"), load("100,000")], 40);
  const moment = () => store.loadAt("100,000", 54_321);
  const rows = async () => fold(await store.rows("100,000", { from: 1, to: 10_000, limit: 10_000 }));
  await compare("a moment of 100,000, and 10,000 rows folded", [moment, rows], 9);
  await store[Symbol.asyncDispose]();
}

/** What decision 0003 goes by: a turn's way to another thread and back, beside a commit with its sync. */
async function handover(): Promise<void> {
  const raw = rawCommits(folder);
  const code =
    "const { parentPort: to } = require('node:worker_threads'); to.on('message', (m) => to.postMessage(m.length));";
  const thread = new Worker(code, { eval: true });
  const turn = ["run", 1, 1_700_000_000_000, 1, "x".repeat(1_100), "running 1", '["write",1,null,1,[1]]'];
  const there = () =>
    new Promise((resolve) => {
      thread.once("message", resolve);
      thread.postMessage(turn);
    });
  const cases = {
    commit: () => raw.commit(50),
    handover: async () => {
      for (let i = 0; i < 50; i++) await there();
    },
  };
  const times = await interleaved(cases, { rounds: 200, warmUp: 10, forMs: 15_000 });
  await thread.terminate();
  const { value, quickest: best } = ratio(times.handover, times.commit);
  const us = (list: readonly number[]) => `${(median(list) * 20).toFixed(1)} us`;
  say(
    `commit ${us(times.commit)}, handover ${us(times.handover)}, ` +
      `${value.toFixed(2)} x; quickest ${best.toFixed(2)} x`,
  );
}

const parts = { rates, sizes, lengths, handover };
try {
  for (const [name, measure] of Object.entries(parts)) {
    if (name.includes(process.argv[2] ?? "")) await measure();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
