// Values whose rest is fetched on request: what is fetched is whole, whatever happens meanwhile, and what is
// not fetched says so.

import { expect, onTestFinished, test } from "vitest";
import { longRun } from "../../bench/web-journal.ts";
import { must } from "../../src/base/assert.ts";
import type { Json } from "../../src/base/json.ts";
import type { Fact, TurnRow } from "../../src/core/facts.ts";
import { shortRow } from "../../src/core/short-turn.ts";
import type { InboxItem } from "../../src/host/inbox.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { type Edit, exchanged } from "../../web/src/fork/edit.ts";
import { wholeCut } from "../../web/src/journal/cut-text.ts";
import { Journal } from "../../web/src/journal/journal.ts";
import { JournalService } from "../../web/src/journal/journal-service.ts";
import type { Moment } from "../../web/src/journal/journal-shapes.ts";
import type { PackOf, Source } from "../../web/src/journal/source.ts";
import { ownAsks } from "../../web/src/run/open-asks.ts";

/** A short run whose notes are appended to each other; what is written is what the function says. */
async function rowsWith(valueOf: (turn: number) => Json): Promise<readonly TurnRow[]> {
  const store = memoryStore();
  await longRun(store, { run: "r", turns: 40 });
  const rows = await store.rows("r", { from: 1, to: 40, limit: 40 });
  const changed = (fact: Fact, turn: number): Fact =>
    fact.type !== "wrote"
      ? fact
      : { ...fact, value: valueOf(turn), mode: fact.artifact === "note" ? "append" : "replace" };
  return rows.map((row) => ({ ...row, facts: row.facts.map((fact) => changed(fact, row.turn)) }));
}

const largeText = (turn: number): string => `${turn}.`.repeat(50_000);

const writing = (rows: readonly TurnRow[], artifact: string): readonly number[] =>
  rows.flatMap(({ turn, facts }) =>
    facts.some((fact) => fact.type === "wrote" && fact.artifact === artifact) ? [turn] : [],
  );

async function read(rows: readonly TurnRow[], row: NonNullable<Source["row"]>): Promise<JournalService> {
  const { resolve, promise } = Promise.withResolvers<void>();
  const source: Source = {
    program: async () => ({ id: "long", version: "1.0.0", program: {} }) as unknown as PackOf,
    async follow(told) {
      told.rows(rows.map(shortRow), rows.length);
      resolve();
    },
    row,
  };
  const service = new JournalService("r", source, () => undefined);
  onTestFinished(() => service.end());
  service.begin();
  await promise;
  return service;
}

test("a turn that came before another could not be fetched is not taken for fetched", async () => {
  const rows = await rowsWith(largeText);
  const [first = 0, second = 0] = writing(rows, "note");
  let isAway = true;
  const service = await read(rows, async (turn) => {
    if (isAway && turn === second) throw new Error("the server is away");
    return rows[turn - 1];
  });
  await expect(service.artifact("note", second)).rejects.toThrow("away");
  expect(await service.artifact("note", first)).toBe(largeText(first));
  isAway = false;
  expect(await service.artifact("note", second)).toBe(`${largeText(first)}\n${largeText(second)}`);
});

test("who asks for a turn while others are still fetched with it gets all of it", async () => {
  const rows = await rowsWith(largeText);
  const [first = 0, second = 0] = writing(rows, "note");
  const [asked, come] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const service = await read(rows, async (turn) => {
    if (turn === second) {
      asked.resolve();
      await come.promise;
    }
    return rows[turn - 1];
  });
  const both = service.artifact("note", second);
  await asked.promise;
  expect(await service.artifact("note", first)).toBe(largeText(first));
  come.resolve();
  expect(await both).toBe(`${largeText(first)}\n${largeText(second)}`);
});

test("a cell of the trace shows nothing in place of what was left out", async () => {
  const rows = await rowsWith(() => [1, "x".repeat(60_000), "y".repeat(60_000)]);
  const journal = new Journal();
  for (const row of rows) journal.add(shortRow(row));
  const cells = journal
    .visitsFrom(0)
    .rows.flatMap(({ cells: { plan } }) => (plan === undefined ? [] : [plan]));
  expect(new Set(cells)).toEqual(new Set(['[1,"…']));
});

test("whoever has a value whole cuts it for its length only", () => {
  const sly = "ls \uf8f01:5\uf8f1; rm -r .";
  expect(wholeCut(sly)).toEqual({ text: sly, size: sly.length, isCut: false });
  expect(wholeCut("x".repeat(70_000))).toMatchObject({ size: 70_000, isCut: true });
});

test("a call whose arguments are here in part is decided about when the inbox has them", () => {
  const args = { text: largeText(1) };
  const asked = { type: "asked", step: 3, ask: { kind: "approval", tool: "write", args } } as unknown as Fact;
  const [short] = shortRow({ turn: 7, at: 0, v: 1, facts: [asked] }).facts;
  const ask = short?.type === "asked" && short.ask.kind === "approval" ? short.ask : undefined;
  const wait = { step: 3, kind: "approval" as const, sha256: "5a", args: ask?.args ?? null };
  const summary = { waiting_for: [wait, { step: 4, kind: "message" }] } as unknown as Moment["summary"];
  const stepsOf = (told: readonly InboxItem[]) =>
    ownAsks("r", { turn: 7, summary }, told).map((item) => [item.step, item.args]);
  expect(stepsOf([])).toEqual([[4, undefined]]);
  const told = { run: "r", step: 3, args } as unknown as InboxItem;
  expect(stepsOf([told])).toEqual([
    [3, args],
    [4, undefined],
  ]);
});

test("a value that comes late changes the edit it was fetched for, and no other", () => {
  const [first, second, third] = ["a", "b", "c"].map((name): Edit => ({ kind: "artifact", name, value: "" }));
  const [one, two, three] = [must(first, "1"), must(second, "2"), must(third, "3")];
  const late: Edit = { ...two, value: "fetched" };
  expect(exchanged([one, two, three], two, late)).toEqual([one, late, three]);
  expect(exchanged([one, three], two, late)).toEqual([one, three]);
});
