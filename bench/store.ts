// How the SQLite store compares with the disk below it: commit rates against raw transactions of one insert
// each (P1, P2), bytes per step (P4), loading short and long runs (P5). Run with `npx node bench/store.ts`;
// figures are medians over interleaved rounds, and the ratios are what counts on a shared machine.

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { applyTurn, fold } from "../src/core/apply.ts";
import type { Fact, TurnRow } from "../src/core/facts.ts";
import { emptyRun, type Run } from "../src/core/run.ts";
import type { RunCreation, Store } from "../src/engine/ports.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "packloop-bench-"));
const say = (line: string) => process.stdout.write(`${line}\n`);
const create: RunCreation = {
  digest: "d",
  packId: "bench",
  packVersion: "1.0.0",
  setup: { script: "bench.yaml" },
};

/** A loop of two states whose every visit writes one artifact of 100 bytes and moves on. */
class Loop {
  readonly #mode: "replace" | "append";
  #run: Run = emptyRun;

  constructor(mode: "replace" | "append") {
    this.#mode = mode;
  }

  next(): { readonly row: TurnRow; readonly after: Run } {
    const turn = this.#run.turn + 1;
    const row = {
      turn,
      at: 1_700_000_000_000 + turn,
      v: 1,
      facts: turn === 1 ? this.#first() : this.#visit(turn),
    };
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
    const value = `note ${turn} `.padEnd(100, "the parser accepts empty lists now ");
    const calls = [
      { id: "c1", tool: "workflow__set_artifact", args: { name: "notes", value } },
      { id: "c2", tool: "workflow__transition", args: { event } },
    ];
    const usage = { inputTokens: 1_200 + (turn % 7), outputTokens: 85, costUsd: 0.0021 };
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
      {
        type: "noted",
        what: "result",
        call: "c1",
        result: { status: "artifact_set", artifact: "notes" },
        error: false,
      },
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

function commit(store: Store, run: string, loop: Loop): Promise<boolean> {
  const { row, after } = loop.next();
  return store.commit({ run, row, after, ...(row.turn === 1 && { create }) });
}

/** Steps of one run with several on their way at once, to get to a long journal quickly. */
async function grow(store: Store, run: string, loop: Loop, steps: number): Promise<void> {
  const together = 64;
  for (let i = 0; i < steps; i += together) {
    await Promise.all(Array.from({ length: Math.min(together, steps - i) }, () => commit(store, run, loop)));
  }
}

/** One insert of a row as large as ours in a transaction of its own. */
function rawCommits(): () => void {
  const db = new DatabaseSync(join(folder, "raw.db"));
  db.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, facts TEXT)",
  );
  const insert = db.prepare("INSERT INTO t (facts) VALUES (?)");
  const text = "x".repeat(450);
  return () => insert.run(text);
}

const median = (list: readonly number[]): number =>
  list.toSorted((a, b) => a - b)[list.length >> 1] as number;

async function rates(): Promise<void> {
  const raw = rawCommits();
  const store = await openSqliteStore(join(folder, "rates.db"));
  const alone = new Loop("replace");
  const many = Array.from({ length: 128 }, () => new Loop("replace"));
  const steps = 100;
  const eachOfMany = 10;
  const cases: Record<string, { readonly steps: number; readonly go: () => Promise<void> }> = {
    raw: {
      steps,
      async go() {
        for (let i = 0; i < steps; i++) raw();
      },
    },
    "store, 1 run": {
      steps,
      async go() {
        for (let i = 0; i < steps; i++) await commit(store, "alone", alone);
      },
    },
    "store, 128 runs": {
      steps: many.length * eachOfMany,
      async go() {
        const loops = many.map(async (loop, n) => {
          for (let i = 0; i < eachOfMany; i++) await commit(store, `run-${n}`, loop);
        });
        await Promise.all(loops);
      },
    },
  };
  const times = new Map<string, number[]>(Object.keys(cases).map((name) => [name, []]));
  const until = performance.now() + 15_000;
  for (let round = 0; round < 200 && performance.now() < until; round++) {
    for (const [name, { steps: count, go }] of Object.entries(cases)) {
      const start = performance.now();
      await go();
      // The first rounds warm up, and start the commit thread.
      if (round >= 3) times.get(name)?.push(((performance.now() - start) / count) * 1_000);
    }
  }
  await store[Symbol.asyncDispose]();
  const base = times.get("raw") as number[];
  for (const [name, list] of times) {
    const ratio = median(list.map((us, i) => (base[i] as number) / us));
    const best = Math.min(...list).toFixed(1);
    say(
      `${name.padEnd(24)} ${median(list).toFixed(1).padStart(9)} us a step   best ${best.padStart(7)}   ${ratio.toFixed(2)} x raw`,
    );
  }
}

async function sizes(): Promise<void> {
  for (const mode of ["replace", "append"] as const) {
    for (const steps of [1_000, 50_000]) {
      const path = join(folder, `${mode}-${steps}.db`);
      const store = await openSqliteStore(path);
      await grow(store, "r", new Loop(mode), steps);
      await store[Symbol.asyncDispose]();
      say(
        `${mode}, ${steps} steps`.padEnd(24) +
          `${(statSync(path).size / steps).toFixed(0).padStart(9)} bytes a step`,
      );
    }
  }
}

async function loads(): Promise<void> {
  const store = await openSqliteStore(join(folder, "loads.db"));
  const lengths = [100, 10_000, 100_000];
  for (const steps of lengths) await grow(store, `run-${steps}`, new Loop("replace"), steps);
  const times = new Map<number, number[]>(lengths.map((steps) => [steps, []]));
  for (let round = 0; round < 30; round++) {
    for (const steps of lengths) {
      const start = performance.now();
      const stored = await store.load(`run-${steps}`);
      fold(stored?.rows ?? [], stored?.snapshot);
      times.get(steps)?.push(performance.now() - start);
    }
  }
  for (const [steps, list] of times)
    say(`load ${steps} steps`.padEnd(24) + `${median(list).toFixed(2).padStart(9)} ms`);
  const start = performance.now();
  const rows = await store.rows("run-10000", { from: 1, to: 10_000, limit: 10_000 });
  fold(rows);
  say("all rows of 10000".padEnd(24) + `${(performance.now() - start).toFixed(0).padStart(9)} ms`);
  await store[Symbol.asyncDispose]();
}

try {
  await rates();
  await sizes();
  await loads();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
