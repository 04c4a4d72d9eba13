// Runs of the ledger's pack in a database, started by the test's own process, which performs nothing: it starts
// them, settles calls in doubt as a clerk would, and reads what became of them.

import { expect } from "vitest";
import { fold } from "../../src/core/apply.ts";
import type { TurnRow } from "../../src/core/facts.ts";
import { traceOf } from "../../src/core/trace.ts";
import { Engine } from "../../src/engine/engine.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { digestOf } from "../../src/pack/link.ts";
import { openPack } from "../../src/pack/open-pack.ts";
import { openPostgresStore, type PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import type { Ledger } from "./ledger.ts";
import { ledgerPack } from "./ledger-pack.ts";

export class LedgerRuns implements AsyncDisposable {
  readonly store: PostgresStore;
  readonly #engine: Engine;
  readonly #clock = systemClock();

  private constructor(store: PostgresStore) {
    this.store = store;
    const portsOf = () => Promise.reject(new Error("this process performs nothing"));
    this.#engine = new Engine({ store, clock: this.#clock, idle: true, portsOf });
  }

  static async open(url: string): Promise<LedgerRuns> {
    return new LedgerRuns(await openPostgresStore(url));
  }

  async start(ids: readonly string[]): Promise<void> {
    const opened = openPack(ledgerPack, { file: "ledger.yaml" });
    if (!opened.ok) throw opened.toError();
    const { program } = opened;
    const digest = digestOf(program);
    const input = { mode: "autonomous", variables: {}, input: "" } as const;
    await Promise.all(
      ids.map((id) => this.#engine.start({ id, program, digest, source: ledgerPack, setup: {}, input })),
    );
  }

  /** Settles what is in doubt until every run has ended. */
  async untilEnded(ids: readonly string[], ledger: Ledger): Promise<void> {
    for (let left = ids; left.length > 0; ) {
      const records = await this.store.list({ limit: ids.length, status: ["running", "waiting"] });
      left = records.map(({ run }) => run).filter((run) => ids.includes(run));
      for (const { run, status } of records) if (status === "waiting") await this.#settle(run, ledger);
      await this.#clock.sleep(100, new AbortController().signal);
    }
  }

  async #settle(id: string, ledger: Ledger): Promise<void> {
    const run = await this.#engine.load(id);
    for (const [step, { hold }] of Object.entries(run?.open ?? {})) {
      if (hold !== "in_doubt") continue;
      const known = ledger.answers.get(`${id}/${step}`);
      const terms = { at: this.#clock.now(), step: Number(step), by: "clerk" };
      await this.#engine.submit(
        id,
        known === undefined
          ? { type: "retry", ...terms }
          : { type: "answer", ...terms, outcome: { ok: true, value: known } },
      );
    }
  }

  /** What must not depend on who was killed: the trace and the answers, after the journal was found sound. */
  async wayOf(id: string): Promise<string> {
    expect(await this.store.verify(id)).toEqual([]);
    const rows = await this.store.rows(id, { from: 1, to: 1_000, limit: 1_000 });
    expect(rows.map(({ turn }) => turn)).toEqual(rows.map((_, index) => index + 1));
    const facts = rows.flatMap((row) => row.facts);
    const asked = facts.flatMap((fact) => (fact.type === "asked" ? [fact.step] : []));
    expect(asked).toEqual(asked.map((_, index) => index + 1));
    const answered = facts.flatMap((fact) => (fact.type === "answered" ? [fact] : []));
    expect(new Set(answered.map(({ step }) => step)).size).toBe(answered.length);
    const answers = answered.map(({ step, outcome }) => ({ step, outcome })).sort((a, b) => a.step - b.step);
    return JSON.stringify({ trace: timeless(rows), answers, final: fold(rows).final }, null, 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine[Symbol.asyncDispose]();
  }
}

/** Doubt and its end add turns, so numbers of turns are left out with the times. */
const timeless = (rows: readonly TurnRow[]) =>
  [...traceOf(rows)].map(({ at: _at, turn: _turn, used, ...row }) => ({
    ...row,
    used: { ...used, wall_ms: 0 },
  }));
