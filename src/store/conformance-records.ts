// The second half of the promises of a store: records of runs, work to do, removal, programs.

import { expect, test } from "vitest";
import { canonical, type Json } from "../base/json.ts";
import { fold } from "../core/apply.ts";
import type { Fact, TurnRow } from "../core/facts.ts";
import type { Store } from "../engine/ports.ts";
import { recordOf } from "./record.ts";
import { HOSTILE, type SampleTurn, sampleCreation, sampleJournal } from "./sample-journal.ts";
import { at, commitAll, folded, forkTurn, type Opened, prefix, withLargeTexts } from "./stored-journal.ts";

export function records(opened: Opened): void {
  test("the record says what the journal folds to after every turn", async () => {
    const journal = sampleJournal(40, 80);
    for (const one of journal) {
      await commitAll(opened.store, "r", [one]);
      expect(await opened.store.record("r")).toEqual(recordOf("r", sampleCreation, one.after));
    }
    expect((await opened.store.load("r"))?.record).toEqual(await opened.store.record("r"));
  });

  test("a key finds its run and belongs to one run only", async () => {
    const journal = sampleJournal(41, 1);
    const { row, after } = at(journal, 0);
    for (const [index, key] of HOSTILE.entries()) {
      await commitAll(opened.store, `run-${index}`, journal, { ...sampleCreation, key });
      expect(
        await opened.store.commit({ run: "other", row, after, create: { ...sampleCreation, key } }),
      ).toBe(false);
    }
    await opened.reopen();
    for (const [index, key] of HOSTILE.entries()) expect(await opened.store.find(key)).toBe(`run-${index}`);
    expect(await opened.store.find("no such key")).toBeUndefined();
    expect(await opened.store.load("other")).toBeUndefined();
  });

  test("runs are listed newest first, by page and by filter", async () => {
    const [first] = sampleJournal(42, 1) as [SampleTurn];
    const end: TurnRow = {
      ...first.row,
      turn: 2,
      facts: [{ type: "finished", status: "completed", reason: null, text: "" }],
    };
    const done = { row: end, after: fold([end], first.after) };
    for (let i = 0; i < 9; i++) {
      const create = { ...sampleCreation, packId: i % 2 === 0 ? "even" : "odd" };
      await commitAll(opened.store, `run-${i}`, i < 3 ? [first, done] : [first], create);
    }
    const listed = async (filter: Partial<Parameters<Store["list"]>[0]>) =>
      (await opened.store.list({ limit: 100, ...filter })).map(({ run }) => Number(run.slice(4)));
    expect(await listed({})).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0]);
    expect(await listed({ limit: 2 })).toEqual([8, 7]);
    expect(await listed({ before: "run-7", limit: 3 })).toEqual([6, 5, 4]);
    expect(await listed({ before: "nobody" })).toEqual([]);
    expect(await listed({ status: ["completed"] })).toEqual([2, 1, 0]);
    expect(await listed({ status: ["completed", "running"], limit: 7 })).toEqual([8, 7, 6, 5, 4, 3, 2]);
    expect(await listed({ status: [] })).toEqual([]);
    expect(await listed({ packId: "even", status: ["running"] })).toEqual([8, 6, 4]);
    expect(await listed({ parent: "run-1" })).toEqual([]);
  });

  test("names are given by their beginning, newest first", async () => {
    const journal = sampleJournal(44, 1);
    const all = ["r_1", "r_12", "R_1", ...HOSTILE];
    for (const name of all) await commitAll(opened.store, name, journal);
    const names = (prefix: string, limit = 100) => opened.store.names({ prefix, limit });
    expect(await names("")).toEqual(all.toReversed());
    expect(await names("", 2)).toEqual(all.toReversed().slice(0, 2));
    expect(await names("r_1")).toEqual(["r_12", "r_1"]);
    expect(await names("r_1", 1)).toEqual(["r_12"]);
    expect(await names("r_2")).toEqual([]);
    for (const name of HOSTILE) expect(await names(name)).toContain(name);
  });

  test("children are listed by their parent", async () => {
    const [first] = sampleJournal(43, 1) as [SampleTurn];
    for (const [run, parent] of [
      ["a/1", "a"],
      ["b/1", "b"],
      ["a/2", "a"],
    ] as const) {
      const [started, ...others] = first.row.facts as [Fact, ...Fact[]];
      const facts = [{ ...started, parent: { run: parent, step: 1 } } as Fact, ...others];
      const row = { ...first.row, facts };
      await commitAll(opened.store, run, [{ row, after: fold([row]) }]);
    }
    expect((await opened.store.list({ parent: "a", limit: 9 })).map(({ run }) => run)).toEqual([
      "a/2",
      "a/1",
    ]);
  });
}

/** A run that asks for exactly this. */
function asking(...asks: readonly Extract<Fact, { type: "asked" }>["ask"][]): SampleTurn {
  const [first] = sampleJournal(50, 1) as [SampleTurn];
  const facts = first.row.facts.filter(({ type }) => type !== "asked");
  const row = {
    ...first.row,
    facts: [...facts, ...asks.map((ask, i): Fact => ({ type: "asked", step: i + 1, ask }))],
  };
  return { row, after: fold([row]) };
}

const answered = (step: number): Fact => ({
  type: "answered",
  step,
  outcome: { ok: false, code: "abandoned", message: "" },
});

export function work(opened: Opened): void {
  const model = { kind: "model", round: 1, nth: 0, tools: true } as const;
  const event = { kind: "event", allow: ["Go"] } as const;

  test("runs that want work are found, oldest first", async () => {
    await commitAll(opened.store, "works", [asking(model)]);
    await commitAll(opened.store, "waits", [asking(event)]);
    await commitAll(opened.store, "timed", [asking(event, { kind: "timer", due: 500 })]);
    await commitAll(opened.store, "later", [
      asking({ kind: "timer", due: 900 }, { kind: "timer", due: 700 }),
    ]);
    await commitAll(opened.store, "replies", [
      asking({ kind: "reply", to: { run: "p", step: 1 }, outcome: { ok: true, value: null } }),
    ]);
    expect(await opened.store.runnable(499, 10)).toEqual(["works", "replies"]);
    expect(await opened.store.runnable(500, 10)).toEqual(["works", "timed", "replies"]);
    expect(await opened.store.runnable(700, 10)).toEqual(["works", "timed", "later", "replies"]);
    expect(await opened.store.runnable(700, 2)).toEqual(["works", "timed"]);
    expect(await opened.store.nextDue()).toBe(500);
  });

  test("runs that ask somebody are found in the order they began to, page by page", async () => {
    const asked = (step: number): SampleTurn => {
      const one = asking({ kind: "approval", call: "c", tool: "t", args: {}, sha256: "x" }, model);
      const row = { ...one.row, at: one.row.at + step };
      return { row, after: fold([row]) };
    };
    await commitAll(opened.store, "late", [asked(30)]);
    await commitAll(opened.store, "works", [asking(model)]);
    await commitAll(opened.store, "early", [asked(10)]);
    await commitAll(opened.store, "same", [asked(10)]);
    await commitAll(opened.store, "timed", [asking({ kind: "timer", due: 500 })]);
    const names = async (limit: number, after?: string) => {
      const page = await opened.store.asking({ limit, ...(after !== undefined && { after }) });
      return { runs: page.map(({ run }) => run), last: page.at(-1)?.place };
    };
    await opened.reopen();
    expect((await names(9)).runs).toEqual(["early", "same", "late"]);
    const first = await names(2);
    expect(first.runs).toEqual(["early", "same"]);
    expect((await names(9, first.last)).runs).toEqual(["late"]);
    expect((await names(9, "no place")).runs).toEqual([]);
    // Still asks; then no more.
    const before = asked(10);
    const still: TurnRow = { ...before.row, turn: 2, at: before.row.at + 99, facts: [answered(2)] };
    const after = fold([still], before.after);
    await commitAll(opened.store, "early", [{ row: still, after }]);
    expect((await names(9)).runs).toEqual(["early", "same", "late"]);
    const over: TurnRow = { ...still, turn: 3, facts: [answered(1)] };
    await commitAll(opened.store, "early", [{ row: over, after: fold([over], after) }]);
    await opened.store.remove(["same"]);
    expect((await names(9)).runs).toEqual(["late"]);
    for (const run of ["early", "late"]) expect(await opened.store.verify(run)).toEqual([]);
  });

  test("a call on hold wants no work, and a closed timer is not due", async () => {
    const first = asking(model, { kind: "timer", due: 500 });
    const row: TurnRow = {
      ...first.row,
      turn: 2,
      facts: [
        { type: "noted", what: "in_doubt", step: 1 },
        { type: "answered", step: 2, outcome: { ok: true, value: null } },
      ],
    };
    await commitAll(opened.store, "r", [first]);
    expect(await opened.store.runnable(9_999, 10)).toEqual(["r"]);
    await commitAll(opened.store, "r", [{ row, after: fold([row], first.after) }]);
    expect(await opened.store.runnable(9_999, 10)).toEqual([]);
    expect(await opened.store.nextDue()).toBeUndefined();
    expect((await opened.store.record("r"))?.status).toBe("waiting");
  });
}

export function removal(opened: Opened): void {
  test("a removed run is gone whole, and its name and key are free again", async () => {
    const journal = sampleJournal(60, 300);
    await commitAll(opened.store, "a", withLargeTexts(journal, [50_000]), { ...sampleCreation, key: "k" });
    await commitAll(opened.store, "b", journal);
    await opened.store.remove(["a", "nobody"]);
    expect(await opened.store.load("a")).toBeUndefined();
    expect(await opened.store.find("k")).toBeUndefined();
    expect((await opened.store.list({ limit: 9 })).map(({ run }) => run)).toEqual(["b"]);
    const other = sampleJournal(61, 5);
    await commitAll(opened.store, "a", other, { ...sampleCreation, key: "k" });
    expect(await folded(opened.store, "a")).toBe(prefix(other, 5));
    expect(await folded(opened.store, "b")).toBe(prefix(journal, 300));
    for (const run of ["a", "b"]) expect(await opened.store.verify(run)).toEqual([]);
  });

  test("a turn for a run that was removed meanwhile is refused", async () => {
    const journal = sampleJournal(62, 3);
    await commitAll(opened.store, "r", journal.slice(0, 2));
    await opened.store.remove(["r"]);
    expect(await opened.store.commit({ run: "r", ...at(journal, 2) })).toBe(false);
  });
}

export function programs(opened: Opened): void {
  const program = { states: { ["__proto__"]: [1, "\ud800"] } } as unknown as Record<string, Json>;

  test("a program is given back as it was put, source and all", async () => {
    await opened.store.putProgram("d", program, "text: \u0000é");
    await opened.store.putProgram("d", program, "text: \u0000é");
    const store = await opened.reopen();
    const found = await store.program("d");
    expect(canonical(found?.program as Json)).toBe(canonical(program));
    expect(found?.source).toBe("text: \u0000é");
    expect(await store.program("e")).toBeUndefined();
  });

  test("a collection frees programs that no run refers to, but none that was put since opening", async () => {
    const journal = sampleJournal(70, 10);
    for (const digest of ["digest-of-a-pack", "digest-of-a-fork", "unused"]) {
      await opened.store.putProgram(digest, { digest, text: "x".repeat(9_000) }, "source");
    }
    await commitAll(opened.store, "r", journal);
    const create = { ...sampleCreation, digest: "digest-of-a-fork" };
    expect(await opened.store.fork({ from: "r", turn: 5, run: "f", ...forkTurn(journal, 5), create })).toBe(
      true,
    );
    await opened.store.remove(["r"]);
    await opened.store.collect();
    expect(await opened.store.program("unused")).toBeDefined();
    await (await opened.reopen()).collect();
    expect(await opened.store.program("unused")).toBeUndefined();
    expect(await opened.store.program("digest-of-a-pack"), "the fork's copied turns name it").toBeDefined();
    expect(await opened.store.program("digest-of-a-fork")).toBeDefined();
    await opened.store.remove(["f"]);
    await opened.store.collect();
    expect(await opened.store.program("digest-of-a-pack")).toBeUndefined();
  });
}
