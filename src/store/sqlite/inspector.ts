// Looks at what ordinary reads take for granted: that indexes lead to a run's rows, and that nothing lies
// beyond.

import type { DatabaseSync } from "node:sqlite";
import { fromColumn, toColumn } from "../journal/column-text.ts";
import { standingOf } from "../journal/run-record.ts";
import type { RunRow } from "./reader.ts";
import { keyOf, TURN_MAX, turnOf } from "./schema.ts";

export class Inspector {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Why a run is not found by its name. */
  missing(name: string): string {
    const found = this.#db.prepare("SELECT id FROM run NOT INDEXED WHERE name = ?").get(toColumn(name));
    if (found === undefined) return `there is no run \`${name}\``;
    return `run \`${name}\` is stored but cannot be found by its name: an index or its record is damaged`;
  }

  /** Digests of the programs that were there when the run was created, or when it was forked. */
  programsOf(run: number): readonly string[] {
    const rows = this.#db.prepare("SELECT digest FROM run_program WHERE run = ?").all(run) as {
      digest: string;
    }[];
    return rows.map(({ digest }) => fromColumn(digest));
  }

  /** Lookups that should lead to this run and do not. */
  rowProblems(row: RunRow): readonly string[] {
    const name = fromColumn(row.name);
    const problems: string[] = [];
    const isFound = (sql: string, ...values: (string | number)[]) =>
      this.#db.prepare(sql).get(...values) !== undefined;
    const expect = (found: boolean, by: string) => {
      if (!found) problems.push(`run \`${name}\` cannot be found by its ${by}: an index is damaged`);
    };
    const { status, work, asks, due } = standingOf(row.standing);
    const head = "SELECT 1 FROM head INDEXED BY";
    expect(isFound(`${head} head_status WHERE status = ? AND run = ?`, status, row.run), "status");
    expect(work === row.work && due === row.due, "open work");
    if (work === 1) expect(isFound(`${head} head_work WHERE work = 1 AND run = ?`, row.run), "open work");
    if (due !== null) expect(isFound(`${head} head_due WHERE due = ? AND run = ?`, due, row.run), "due time");
    if (asks) expect(isFound("SELECT 1 FROM inbox WHERE run = ?", row.run), "open question");
    if (row.key !== null)
      expect(isFound("SELECT 1 FROM run WHERE key = ? AND id = ?", row.key, row.run), "key");
    const parent = "SELECT 1 FROM run INDEXED BY run_parent WHERE parent = ? AND id = ?";
    if (row.parent !== null) expect(isFound(parent, row.parent, row.run), "parent");
    // A turn's hash covers the one of the two that is read.
    const both = "SELECT turn FROM turn WHERE id BETWEEN ? AND ? AND facts IS NOT NULL AND blob IS NOT NULL";
    for (const { turn } of this.#db.prepare(both).all(keyOf(row.run, 1), keyOf(row.run, TURN_MAX)))
      problems.push(`turn ${Number(turn)} of run \`${name}\` is damaged: it has a blob beside its facts`);
    return problems;
  }

  /** Journals whose run is not there. From run to run by the key, so that no journal is read through. */
  strays(): readonly string[] {
    const next = this.#db.prepare("SELECT min(id) AS id FROM turn WHERE id >= ?");
    const known = this.#db.prepare("SELECT 1 FROM run WHERE id = ?");
    const count = this.#db.prepare("SELECT count(*) AS turns FROM turn WHERE id BETWEEN ? AND ?");
    const problems: string[] = [];
    for (let from = 0; ; ) {
      const { id } = next.get(from) as { id: number | null };
      if (id === null) return problems;
      const run = (id - turnOf(id)) / (TURN_MAX + 1);
      const last = keyOf(run, TURN_MAX);
      if (known.get(run) === undefined) {
        const { turns } = count.get(keyOf(run, 0), last) as { turns: number };
        // None are left of a run that was removed between two looks.
        if (turns > 0)
          problems.push(
            `${turns} ${turns === 1 ? "turn belongs" : "turns belong"} to no run (number ${run}): its record is gone`,
          );
      }
      from = last + 1;
    }
  }
}
