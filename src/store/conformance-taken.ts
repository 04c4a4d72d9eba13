// Promises of a store about journals from elsewhere: they arrive whole or not at all.

import { expect, test } from "vitest";
import type { TurnRow } from "../core/facts.ts";
import { recordOf } from "./record.ts";
import { type SampleTurn, sampleCreation, sampleJournal } from "./sample-journal.ts";
import {
  at,
  commitAll,
  folded,
  foldedAt,
  forkTurn,
  type Opened,
  plain,
  prefix,
  withLargeTexts,
} from "./stored-journal.ts";

const rowsOf = (journal: readonly SampleTurn[]): readonly TurnRow[] => journal.map(({ row }) => row);

const takenAs = (run: string, journal: readonly SampleTurn[], shared = 0) => ({
  run,
  rows: rowsOf(journal),
  shared,
  end: at(journal, -1).after,
  create: sampleCreation,
});

export function taken(opened: Opened): void {
  const journal = withLargeTexts(sampleJournal(80, 900), [40_000, 10]);

  test("a journal that is taken reads as if it had been committed, and goes on", async () => {
    expect(await opened.store.take(takenAs("r", journal.slice(0, -1)))).toBe(true);
    const store = await opened.reopen();
    expect(await folded(store, "r")).toBe(prefix(journal, journal.length - 1));
    expect(await foldedAt(store, "r", 431)).toBe(prefix(journal, 431));
    expect(await store.record("r")).toEqual(recordOf("r", sampleCreation, at(journal, -2).after));
    await commitAll(store, "r", journal.slice(-1));
    expect(await store.verify("r")).toEqual([]);
  });

  test("the turns that are missing are added to those that are here", async () => {
    await commitAll(opened.store, "r", journal.slice(0, 300));
    expect(await opened.store.take(takenAs("r", journal, 300))).toBe(true);
    expect(await folded(opened.store, "r")).toBe(plain(at(journal, -1).after));
    expect(await opened.store.verify("r")).toEqual([]);
  });

  test("where other turns, another run or its key are there, nothing is taken", async () => {
    const other = sampleJournal(81, 5);
    await commitAll(opened.store, "r", other, { ...sampleCreation, key: "k" });
    expect(await opened.store.take(takenAs("r", journal))).toBe(false);
    expect(await opened.store.take(takenAs("r", journal, 3))).toBe(false);
    expect(await opened.store.take(takenAs("r", journal, 9))).toBe(false);
    expect(await opened.store.take(takenAs("nobody", journal, 3))).toBe(false);
    const create = { ...sampleCreation, key: "k" };
    expect(await opened.store.take({ ...takenAs("s", journal), create })).toBe(false);
    expect(await opened.store.names({ prefix: "", limit: 9 })).toEqual(["r"]);
    expect(await folded(opened.store, "r")).toBe(prefix(other, 5));
  });

  test("a journal with a turn that cannot be folded is taken in no part", async () => {
    const rows = rowsOf(journal).map((row, i) => (i === 700 ? { ...row, turn: 702 } : row));
    await expect(opened.store.take({ ...takenAs("r", journal), rows })).rejects.toThrow("turns have no gaps");
    expect(await opened.store.load("r")).toBeUndefined();
    expect(await opened.store.take(takenAs("r", journal))).toBe(true);
  });

  test("every program that the journal names stays for as long as the run does", async () => {
    const start = journal.slice(0, 5);
    const all = [...start, forkTurn(start, 5)];
    const digests = ["digest-of-a-pack", "digest-of-a-fork"];
    for (const digest of digests) await opened.store.putProgram(digest, { digest }, "source");
    const create = { ...sampleCreation, digest: "digest-of-a-fork" };
    expect(await opened.store.take({ ...takenAs("f", all), create })).toBe(true);
    await (await opened.reopen()).collect();
    for (const digest of digests) expect(await opened.store.program(digest), digest).toBeDefined();
    await opened.store.remove(["f"]);
    await opened.store.collect();
    for (const digest of digests) expect(await opened.store.program(digest), digest).toBeUndefined();
  });
}
