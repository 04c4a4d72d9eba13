// What every store must do, written once. Each store runs this suite on itself.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { canonical, type Json } from "../base/json.ts";
import { fold } from "../core/apply.ts";
import type { Fact } from "../core/facts.ts";
import { emptyRun } from "../core/run.ts";
import type { RunCreation, Store } from "../engine/ports.ts";
import { programs, records, removal, work } from "./conformance-records.ts";
import { taken } from "./conformance-taken.ts";
import { HOSTILE, type SampleTurn, sampleCreation, sampleJournal } from "./sample-journal.ts";
import {
  at,
  commitAll,
  folded,
  foldedAt,
  forkTurn,
  isSameRun,
  type Opened,
  plain,
  prefix,
  withLargeTexts,
} from "./stored-journal.ts";

export interface OpenedStore {
  readonly store: Store;
  /** Closes the store and opens what it left. */
  reopen(): Promise<Store>;
}

export function storeConformance(name: string, open: () => Promise<OpenedStore>): void {
  describe(`${name} keeps the promises of a store:`, () => {
    const at: { store: Store; reopen: () => Promise<Store> } = {
      store: undefined as never,
      reopen: undefined as never,
    };
    beforeEach(async () => {
      const opened = await open();
      at.store = opened.store;
      at.reopen = async () => {
        at.store = await opened.reopen();
        return at.store;
      };
    });
    afterEach(() => at.store[Symbol.asyncDispose]());

    journals(at);
    conflicts(at);
    pasts(at);
    forks(at);
    taken(at);
    records(at);
    work(at);
    removal(at);
    programs(at);
  });
}

function journals(opened: Opened): void {
  test("what was committed is loaded, hostile texts included", async () => {
    const journal = sampleJournal(1, 60);
    await commitAll(opened.store, "r", journal);
    const loaded = await opened.store.load("r");
    expect(canonical(loaded?.rows as unknown as Json)).toBe(
      canonical(journal.map(({ row }) => row) as unknown as Json),
    );
    expect(await folded(opened.store, "r")).toBe(plain(at(journal, -1).after));
  });

  test("what was acknowledged is there after the store is opened again", async () => {
    const journal = sampleJournal(2, 40);
    await commitAll(opened.store, "r", journal);
    const store = await opened.reopen();
    expect(await folded(store, "r")).toBe(prefix(journal, 40));
    expect(await store.verify("r")).toEqual([]);
  });

  test("a run goes on after the store is opened again", async () => {
    const journal = sampleJournal(3, 40);
    await commitAll(opened.store, "r", journal.slice(0, 20));
    await commitAll(await opened.reopen(), "r", journal.slice(20));
    expect(await folded(opened.store, "r")).toBe(prefix(journal, 40));
  });

  test("an unknown run is undefined and has no rows", async () => {
    expect(await opened.store.load("nobody")).toBeUndefined();
    expect(await opened.store.loadAt("nobody", 1)).toBeUndefined();
    expect(await opened.store.record("nobody")).toBeUndefined();
    expect(await opened.store.rows("nobody", { from: 1, to: 9, limit: 9 })).toEqual([]);
    expect(await opened.store.verify("nobody")).toHaveLength(1);
  });

  test("names of runs are told apart exactly", async () => {
    const journal = sampleJournal(4, 2);
    for (const name of HOSTILE) await commitAll(opened.store, name, journal);
    await opened.reopen();
    for (const name of HOSTILE) expect((await opened.store.record(name))?.run).toBe(name);
    expect(await opened.store.list({ limit: 100 })).toHaveLength(HOSTILE.length);
  });

  test("rows are given by range, in order and at most so many", async () => {
    await commitAll(opened.store, "r", sampleJournal(5, 30));
    const turns = async (from: number, to: number, limit: number) =>
      (await opened.store.rows("r", { from, to, limit })).map(({ turn }) => turn);
    expect(await turns(3, 6, 100)).toEqual([3, 4, 5, 6]);
    expect(await turns(28, 99, 100)).toEqual([28, 29, 30]);
    expect(await turns(1, 30, 2)).toEqual([1, 2]);
    expect(await turns(31, 40, 5)).toEqual([]);
    expect(await turns(6, 3, 5)).toEqual([]);
  });

  test("facts of any size are kept", async () => {
    const journal = withLargeTexts(sampleJournal(6, 1), [16_000, 16_384, 20_000, 70_000, 3_000_000]);
    await commitAll(opened.store, "r", journal);
    const store = await opened.reopen();
    expect(await folded(store, "r")).toBe(prefix(journal, journal.length));
    expect(await store.verify("r")).toEqual([]);
  });

  test("callers may not reach into what is stored", async () => {
    const [first] = sampleJournal(7, 1) as [SampleTurn];
    const facts = structuredClone(first.row.facts) as Fact[];
    await commitAll(opened.store, "r", [{ ...first, row: { ...first.row, facts } }]);
    facts.pop();
    expect((await opened.store.load("r"))?.rows[0]?.facts).toHaveLength(first.row.facts.length);
  });
}

function conflicts(opened: Opened): void {
  const journal = sampleJournal(10, 6);
  const rival = sampleJournal(11, 6);

  test("a turn that is there already is refused and nothing changes", async () => {
    await commitAll(opened.store, "r", journal.slice(0, 3));
    const { row, after } = at(rival, 2);
    expect(await opened.store.commit({ run: "r", row, after })).toBe(false);
    expect(await folded(opened.store, "r")).toBe(prefix(journal, 3));
  });

  test("a turn that would leave a gap is refused", async () => {
    await commitAll(opened.store, "r", journal.slice(0, 3));
    const { row, after } = at(journal, 4);
    expect(await opened.store.commit({ run: "r", row, after })).toBe(false);
    expect((await opened.store.record("r"))?.turn).toBe(3);
  });

  test("a later turn of an unknown run is refused", async () => {
    const { row, after } = at(journal, 1);
    expect(await opened.store.commit({ run: "r", row, after })).toBe(false);
    expect(await opened.store.load("r")).toBeUndefined();
  });

  test("a run is created once", async () => {
    await commitAll(opened.store, "r", journal.slice(0, 1));
    const { row, after } = at(rival, 0);
    expect(await opened.store.commit({ run: "r", row, after, create: sampleCreation })).toBe(false);
    expect(await folded(opened.store, "r")).toBe(prefix(journal, 1));
  });

  test("a first turn that creates nothing is a defect", async () => {
    const { row, after } = at(journal, 0);
    await expect(opened.store.commit({ run: "r", row, after })).rejects.toThrow("creates the run");
  });

  test("of rivals for one turn exactly one wins, and others at that moment are not touched", async () => {
    const runs = Array.from({ length: 30 }, (_, i) => `run-${i}`);
    for (const run of runs) await commitAll(opened.store, run, journal.slice(0, 1));
    const mine = at(journal, 1);
    const theirs = at(sampleRival(journal), 1);
    const all = runs.flatMap((run) =>
      [mine, theirs, mine].map((one) => opened.store.commit({ run, ...one })),
    );
    const results = await Promise.all(all);
    for (const [index] of runs.entries()) {
      expect(results.slice(index * 3, index * 3 + 3).filter(Boolean)).toHaveLength(1);
    }
    for (const run of runs) expect(await opened.store.verify(run)).toEqual([]);
  });

  test("turns of one run that are asked for at once are taken in order", async () => {
    await commitAll(opened.store, "r", journal.slice(0, 1));
    const results = await Promise.all(
      journal.slice(1).map((one) => opened.store.commit({ run: "r", ...one })),
    );
    expect(results).toEqual([true, true, true, true, true]);
    expect(await folded(opened.store, "r")).toBe(prefix(journal, 6));
  });

  test("many runs at once end as they would one by one", async () => {
    const journals = Array.from({ length: 40 }, (_, i) => sampleJournal(100 + i, 15));
    await Promise.all(journals.map((one, i) => commitAll(opened.store, `run-${i}`, one)));
    const store = await opened.reopen();
    for (const [i, one] of journals.entries()) expect(await folded(store, `run-${i}`)).toBe(prefix(one, 15));
  });
}

/** Another second turn on the same first. */
function sampleRival(journal: readonly SampleTurn[]): readonly SampleTurn[] {
  return withLargeTexts(journal.slice(0, 1), [10]);
}

/** Fourteen hundred ways to a server and back, on a machine that others use as well. */
const MANY_TRIPS = { timeout: 300_000 };

function pasts(opened: Opened): void {
  test("every turn of a long journal can be looked at as it was", MANY_TRIPS, async () => {
    const journal = sampleJournal(20, 700);
    await commitAll(opened.store, "r", journal);
    let run = emptyRun;
    expect(await foldedAt(opened.store, "r", 0)).toBe(plain(emptyRun));
    for (const { row } of journal) {
      run = fold([row], run);
      const stored = await opened.store.loadAt("r", row.turn);
      expect(isSameRun(fold(stored?.rows ?? [], stored?.snapshot), run), `turn ${row.turn}`).toBe(true);
    }
    expect(await foldedAt(opened.store, "r", 5_000)).toBe(plain(run));
    expect(await opened.store.verify("r")).toEqual([]);
  });

  test("a look at the past does not disturb what goes on from it", async () => {
    const journal = sampleJournal(21, 1_000);
    await commitAll(opened.store, "r", journal.slice(0, 900));
    for (const turn of [100, 450, 899]) await foldedAt(opened.store, "r", turn);
    await commitAll(opened.store, "r", journal.slice(900));
    expect(await folded(opened.store, "r")).toBe(prefix(journal, 1_000));
    expect(await opened.store.verify("r")).toEqual([]);
  });

  test("a run whose turns each come from a newly opened store reads the same", async () => {
    const journal = sampleJournal(22, 700);
    for (let i = 0; i < journal.length; i += 50) {
      const stored = await opened.store.load("r");
      let run = stored === undefined ? emptyRun : fold(stored.rows, stored.snapshot);
      for (const { row } of journal.slice(i, i + 50)) {
        run = fold([row], run);
        await commitAll(opened.store, "r", [{ row, after: run }]);
      }
      await opened.reopen();
    }
    expect(await folded(opened.store, "r")).toBe(prefix(journal, 700));
    expect(await opened.store.verify("r")).toEqual([]);
  });
}

function forks(opened: Opened): void {
  const journal = sampleJournal(30, 600);
  const create: RunCreation = { ...sampleCreation, digest: "digest-of-a-fork" };

  test("a fork begins with a copy and goes its own way", async () => {
    await commitAll(opened.store, "r", journal);
    const first = forkTurn(journal, 400);
    expect(await opened.store.fork({ from: "r", turn: 400, run: "f", ...first, create })).toBe(true);
    expect(await folded(opened.store, "f")).toBe(plain(first.after));
    expect(await foldedAt(opened.store, "f", 321)).toBe(prefix(journal, 321));
    expect(await folded(opened.store, "r")).toBe(prefix(journal, 600));
    const more = withLargeTexts(
      [first],
      Array.from({ length: 300 }, (_, i) => 400 + i),
    );
    await commitAll(opened.store, "f", more.slice(1));
    expect(await folded(opened.store, "f")).toBe(plain(at(more, -1).after));
    expect(await opened.store.verify("f")).toEqual([]);
    expect(await opened.store.verify("r")).toEqual([]);
  });

  test("a fork outlives its origin", async () => {
    const large = withLargeTexts(journal, [40_000]);
    await commitAll(opened.store, "r", large);
    const first = forkTurn(large, 601);
    expect(await opened.store.fork({ from: "r", turn: 601, run: "f", ...first, create })).toBe(true);
    await opened.store.remove(["r"]);
    await opened.store.collect();
    expect(await folded(opened.store, "f")).toBe(plain(first.after));
    expect(await opened.store.verify("f")).toEqual([]);
  });

  test("a fork is refused when its name or key is taken, or when there is nothing to copy", async () => {
    await commitAll(opened.store, "r", journal.slice(0, 5), { ...sampleCreation, key: "k" });
    const fork = { from: "r", turn: 3, ...forkTurn(journal, 3), create };
    expect(await opened.store.fork({ ...fork, run: "r" })).toBe(false);
    expect(await opened.store.fork({ ...fork, run: "f", create: { ...create, key: "k" } })).toBe(false);
    expect(await opened.store.fork({ ...fork, run: "f", from: "nobody" })).toBe(false);
    const late = { from: "r", turn: 7, ...forkTurn(journal, 7), create };
    expect(await opened.store.fork({ ...late, run: "f" })).toBe(false);
    expect(await opened.store.load("f")).toBeUndefined();
  });
}
