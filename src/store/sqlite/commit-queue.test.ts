import { describe, expect, test } from "vitest";
import type { Store } from "../../engine/ports.ts";
import { type SampleTurn, sampleCreation, sampleJournal } from "../sample-journal.ts";
import { freshPaths, inStore } from "../stored-file.ts";
import { at, commitAll, folded, prefix } from "../stored-journal.ts";
import { packReplies, packRequests, unpackReplies, unpackRequests } from "./group-message.ts";
import type { WriteReply, WriteRequest } from "./requests.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const fresh = freshPaths();
const runs = Array.from({ length: 20 }, (_, i) => `r${i}`);

/** All runs go on by one turn at once. */
function all(store: Store, { row, after }: SampleTurn): Promise<boolean[]> {
  return Promise.all(
    runs.map((run) => store.commit({ run, row, after, ...(row.turn === 1 && { create: sampleCreation }) })),
  );
}

describe("groups:", () => {
  test.each([
    ["on the main thread", 2],
    ["on the commit thread", 80],
  ])("a turn that cannot be written fails alone, %s", async (_, before) => {
    const journal = sampleJournal(1, 100);
    await inStore(fresh(), async (store) => {
      for (const turn of journal.slice(0, before)) {
        await all(store, turn);
        await new Promise(setImmediate);
      }
      const { row, after } = at(journal, before);
      const bad = { ...row, at: Number.NaN };
      const results = await Promise.allSettled(
        runs.map((run, i) => store.commit({ run, row: i === 7 ? bad : row, after })),
      );
      expect(results.map(({ status }) => status === "fulfilled")).toEqual(runs.map((_, i) => i !== 7));
      await commitAll(store, "r7", [{ row, after }]);
      await all(store, at(journal, before + 1));
      for (const run of runs) expect(await folded(store, run)).toBe(prefix(journal, before + 2));
    });
  });

  test("runs alone and in company take turns without losing one another", async () => {
    const journal = sampleJournal(2, 600);
    await inStore(fresh(), async (store) => {
      for (const [i, turn] of journal.entries()) {
        if (i % 50 < 25) await all(store, turn);
        else for (const run of runs) await commitAll(store, run, [turn]);
        if (i % 20 === 0) await new Promise(setImmediate);
        // A rival with the same turn, on whichever thread comes next.
        expect(await store.commit({ run: "r3", ...turn, ...(i === 0 && { create: sampleCreation }) })).toBe(
          false,
        );
      }
      for (const run of runs) {
        expect(await folded(store, run)).toBe(prefix(journal, 600));
        expect(await store.verify(run)).toEqual([]);
      }
    });
  });

  test("what is acknowledged is read at once, whichever thread wrote it", async () => {
    const journal = sampleJournal(3, 120);
    await inStore(fresh(), async (store) => {
      for (const turn of journal) {
        await all(store, turn);
        for (const run of runs) expect((await store.record(run))?.turn).toBe(turn.row.turn);
      }
    });
  });

  test("a removed run is not remembered by the thread that did not remove it", async () => {
    const journal = sampleJournal(4, 100);
    await inStore(fresh(), async (store) => {
      for (const turn of journal.slice(0, 60)) await all(store, turn);
      for (const turn of journal.slice(60, 70)) await commitAll(store, "r0", [turn]);
      await Promise.all([store.remove(["r0", "r1"]), store.commit({ run: "r2", ...at(journal, 60) })]);
      expect(await store.commit({ run: "r0", ...at(journal, 70) })).toBe(false);
      expect(await store.commit({ run: "r1", ...at(journal, 60) })).toBe(false);
      expect(await store.load("r0")).toBeUndefined();
      await commitAll(store, "r0", journal.slice(0, 5));
      expect(await store.verify("r0")).toEqual([]);
      expect((await store.record("r2"))?.turn).toBe(61);
    });
  });
});

test("others are heard while one run goes on without a pause", async () => {
  const journal = sampleJournal(5, 400);
  let heard = 0;
  const timer = setInterval(() => heard++, 1);
  await inStore(fresh(), (store) => commitAll(store, "r", journal));
  clearInterval(timer);
  expect(heard).toBeGreaterThan(0);
});

test("closing waits for what was asked before, and refuses what comes after", async () => {
  const path = fresh();
  const journal = sampleJournal(6, 3);
  const store = await openSqliteStore(path);
  await all(store, at(journal, 0));
  const last = all(store, at(journal, 1));
  const closed = store[Symbol.asyncDispose]();
  await expect(all(store, at(journal, 2))).rejects.toMatchObject({ code: "store-unavailable" });
  expect(await last).toEqual(runs.map(() => true));
  await closed;
  await expect(store.load("r0")).rejects.toMatchObject({ code: "store-unavailable" });
  await inStore(path, async (again) => expect((await again.record("r9"))?.turn).toBe(2));
});

test("requests and replies arrive as they were sent, in order", () => {
  const turn = (n: number): WriteRequest => ({
    kind: "commit",
    run: `r${n}`,
    turn: n,
    at: n * 1.5,
    v: 1,
    facts: "[]",
    standing: "running 1",
    summary: "[]",
    create: undefined,
    snapshot: undefined,
  });
  const settle: WriteRequest = { kind: "settle" };
  const snapshot = { data: "{}", logs: [] };
  const requests = [
    settle,
    turn(1),
    turn(2),
    settle,
    { ...turn(3), snapshot } as WriteRequest,
    turn(4),
    settle,
  ];
  expect(unpackRequests(structuredClone(packRequests(requests)))).toEqual(requests);
  const replies: WriteReply[] = [
    { kind: "turn", written: true, overdue: 0 },
    { kind: "done" },
    { kind: "turn", written: false, overdue: 0 },
    { kind: "turn", written: true, overdue: 70_000 },
    { kind: "turn", written: true, overdue: 0, snapshot: { kind: "written", logs: [3] } },
    { kind: "failed", error: { code: undefined, message: "no", retry: "never" } },
  ];
  expect(unpackReplies(structuredClone(packReplies(replies)))).toEqual(replies);
});
