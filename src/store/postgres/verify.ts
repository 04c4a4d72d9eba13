// Checks one run from end to end: refolds its journal and compares what it comes to with every snapshot and
// with the record.

import { canonical, type Json } from "../../base/json.ts";
import { applyTurn } from "../../core/apply.ts";
import { emptyRun, type Run } from "../../core/run.ts";
import { Fault } from "../../engine/ports.ts";
import { creationOf } from "../journal/run-record.ts";
import { FOLD_VERSION } from "../journal/snapshot.ts";
import { recordFits } from "../record.ts";
import type { Query } from "./connections.ts";
import {
  checkedRecord,
  type RunRow,
  readSnapshot,
  runRow,
  SNAPSHOT,
  storedProgram,
  turnsOf,
} from "./reader.ts";

/** Turns read at a time. */
const PAGE_TURNS = 500;

export async function verifyRun(query: Query, name: string): Promise<readonly string[]> {
  const row = await runRow(query, name);
  if (row === undefined) return [`there is no run \`${name}\``];
  const check = new RunCheck(query, row, name);
  await check.run();
  return check.problems;
}

class RunCheck {
  readonly problems: string[] = [];
  readonly #query: Query;
  readonly #row: RunRow;
  readonly #name: string;
  /** What the turns so far fold to; undefined after damage. */
  #folded: Run | undefined = emptyRun;

  constructor(query: Query, row: RunRow, name: string) {
    this.#query = query;
    this.#row = row;
    this.#name = name;
  }

  async run(): Promise<void> {
    const snapshots = await this.#snapshots();
    for (let from = 1; from <= this.#row.head_turn; from += PAGE_TURNS) {
      const last = Math.min(this.#row.head_turn, from + PAGE_TURNS - 1);
      const rows = await this.#try(() => turnsOf(this.#query, this.#row, { from, last }));
      if (rows === undefined) this.#folded = undefined;
      for (const row of rows ?? []) {
        this.#folded &&= applyTurn(this.#folded, row);
        const snapshot = snapshots.get(row.turn);
        if (
          this.#folded !== undefined &&
          snapshot !== undefined &&
          !sameJson(plain(this.#folded), plain(snapshot))
        )
          this.problems.push(
            `the snapshot of turn ${row.turn} of run \`${this.#name}\` differs from what its journal folds to`,
          );
      }
    }
    await this.#end();
  }

  async #snapshots(): Promise<ReadonlyMap<number, Run>> {
    const { rows } = await this.#query.query(`${SNAPSHOT} WHERE s.run = $1 AND s.fold = $2`, [
      this.#row.run,
      FOLD_VERSION,
    ]);
    const found = new Map<number, Run>();
    for (const cells of rows) {
      const snapshot = await this.#try(async () => readSnapshot(cells));
      if (snapshot !== undefined) found.set(snapshot.turn, snapshot.run);
    }
    return found;
  }

  async #end(): Promise<void> {
    const record = await this.#try(async () => checkedRecord(this.#row));
    const { rows } = await this.#query.query<{ digest: string }>(
      "SELECT digest FROM run_program WHERE run = $1",
      [this.#row.run],
    );
    for (const { digest } of rows) {
      const program = await this.#try(async () => (await storedProgram(this.#query, digest)) ?? "missing");
      if (program === "missing")
        this.problems.push(`program \`${digest}\` of run \`${this.#name}\` is missing`);
    }
    if (record === undefined || this.#folded === undefined) return;
    if (!recordFits(record, creationOf(record), this.#folded))
      this.problems.push(`the record of run \`${this.#name}\` differs from what its journal folds to`);
  }

  /** Damage is a finding; a database that cannot be read is not. */
  async #try<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "store-corrupt") throw error;
      this.problems.push(error.message);
      return undefined;
    }
  }
}

/** Logs share storage that may hold more than is theirs. */
const plain = (run: Run): unknown =>
  JSON.parse(
    JSON.stringify(run, (key, value: unknown) => (key === "cells" ? (value as unknown[]).slice() : value)),
  );

const sameJson = (a: unknown, b: unknown): boolean => canonical(a as Json) === canonical(b as Json);
