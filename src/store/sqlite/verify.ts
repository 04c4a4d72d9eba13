// Checks one run from end to end: refolds its journal and compares what it comes to with every snapshot and
// with the record. Says everything it finds, and goes on after damage as far as it can.

import { setImmediate as pause } from "node:timers/promises";
import { canonical, type Json } from "../../base/json.ts";
import { applyTurn } from "../../core/apply.ts";
import type { TurnRow } from "../../core/facts.ts";
import { emptyRun, type Run } from "../../core/run.ts";
import { Fault } from "../../engine/ports.ts";
import { creationOf } from "../journal/run-record.ts";
import { logsOf, withoutLogs } from "../journal/snapshot.ts";
import { recordFits } from "../record.ts";
import type { Inspector } from "./inspector.ts";
import { checkedRecord, type Reader, type RunRow } from "./reader.ts";
import type { ReadSnapshot } from "./snapshot-reader.ts";

/** Turns read at a time; others get their turn on this thread in between. */
const PAGE_TURNS = 500;

/** Reads with errors turned into faults. */
type Read = <T>(read: (reader: Reader, inspector: Inspector) => T) => T;

export async function verifyRun(name: string, read: Read): Promise<readonly string[]> {
  const check = new RunCheck(name, read);
  await check.run();
  return check.problems;
}

class RunCheck {
  readonly problems: string[] = [];
  readonly #name: string;
  readonly #read: Read;
  /** What the turns so far fold to; undefined after damage. */
  #folded: Run | undefined = emptyRun;
  /** Stored logs that were compared: the cells they agree with, and how far. */
  readonly #agreed = new Map<number, { readonly cells: readonly unknown[]; readonly length: number }>();

  constructor(name: string, read: Read) {
    this.#name = name;
    this.#read = read;
  }

  async run(): Promise<void> {
    const row = this.#try((reader) => reader.row(this.#name));
    if (row === undefined) {
      const missing = this.#try((_, inspector) => inspector.missing(this.#name));
      if (missing !== undefined) this.problems.push(missing);
      return;
    }
    const snapshots = this.#try((reader) => reader.snapshots.turns(row, row.turn)) ?? new Set();
    for (let from = 1; from <= row.turn; from += PAGE_TURNS) {
      this.#page(row, snapshots, from);
      await pause();
    }
    this.#end(row);
  }

  #page(row: RunRow, snapshots: ReadonlySet<number>, from: number): void {
    const to = Math.min(row.turn, from + PAGE_TURNS - 1);
    const found = this.problems.length;
    const rows = this.#try((reader) => reader.turns.turns(row, from, to));
    // The page names only its first damaged turn; one by one each is named.
    if (rows === undefined) this.problems.length = found;
    for (let turn = from; turn <= to; turn++) {
      this.#fold(
        rows === undefined
          ? this.#try((reader) => reader.turns.turns(row, turn, turn)[0])
          : rows[turn - from],
      );
      if (snapshots.has(turn)) this.#snapshot(row, turn);
    }
  }

  #fold(turn: TurnRow | undefined): void {
    const before = this.#folded;
    this.#folded = undefined;
    if (turn === undefined || before === undefined) return;
    try {
      this.#folded = applyTurn(before, turn);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.problems.push(`turn ${turn.turn} of run \`${this.#name}\` cannot be folded: ${why}`);
    }
  }

  #snapshot(row: RunRow, turn: number): void {
    const snapshot = this.#try((reader) => reader.snapshots.newest(row, turn, turn));
    if (snapshot === undefined) return;
    const folded = this.#folded;
    const same = folded === undefined || sameJson(JSON.parse(snapshot.data), withoutLogs(folded));
    if (!same || !this.#sameLogs(snapshot, folded)) {
      this.problems.push(
        `the snapshot of turn ${turn} of run \`${this.#name}\` differs from what its journal folds to`,
      );
    }
  }

  /** Each stored item is compared once, however many snapshots share it. */
  #sameLogs({ refs }: ReadSnapshot, folded: Run | undefined): boolean {
    const logs = folded && logsOf(folded);
    if (logs !== undefined && logs.length !== refs.length) return false;
    return refs.every((ref, index) => {
      const [number, length] = ref;
      const log = logs?.[index];
      const known = this.#agreed.get(number);
      const start = known !== undefined && known.cells === log?.cells ? known.length : 0;
      const items = this.#try((reader) => reader.snapshots.logItems(ref, start));
      if (items === undefined || log === undefined) return true;
      this.#agreed.set(number, { cells: log.cells, length });
      return log.length === length && sameJson(items, log.cells.slice(start, length));
    });
  }

  #end(row: RunRow): void {
    this.#compareHead(row);
    this.problems.push(...(this.#try((_, inspector) => inspector.rowProblems(row)) ?? []));
    const record = this.#try(() => checkedRecord(row));
    this.#programs(row);
    const folded = this.#folded;
    if (record === undefined || folded === undefined) return;
    if (!recordFits(record, creationOf(record), folded)) {
      this.problems.push(`the record of run \`${this.#name}\` differs from what its journal folds to`);
    }
    if (record.digest !== folded.digest) {
      this.problems.push(`run \`${this.#name}\` was created with another program than its journal names`);
    }
  }

  #programs({ run }: RunRow): void {
    for (const digest of this.#try((_, inspector) => inspector.programsOf(run)) ?? []) {
      const found = this.#try((reader) => reader.program(digest) ?? "missing");
      if (found === "missing")
        this.problems.push(`program \`${digest}\` of run \`${this.#name}\` is missing`);
    }
  }

  /** `head` may be older than the newest turn of a run at work, but not of another journal. */
  #compareHead(row: RunRow): void {
    const hash = this.#try((reader) => reader.turns.hashOf(row.run, row.head_turn));
    if (hash === row.head_hash && (row.work === 1 || row.turn === row.head_turn)) return;
    this.problems.push(
      `turn ${row.head_turn} of run \`${this.#name}\` is not the one that was noted as its newest`,
    );
  }

  /** Damage is a finding; a disk that cannot be read is not. */
  #try<T>(read: (reader: Reader, inspector: Inspector) => T): T | undefined {
    try {
      return this.#read(read);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "store-corrupt") throw error;
      this.problems.push(error.message);
      return undefined;
    }
  }
}

const sameJson = (a: unknown, b: unknown): boolean => canonical(a as Json) === canonical(b as Json);
