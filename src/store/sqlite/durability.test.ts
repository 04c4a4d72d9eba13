import { copyFileSync, readFileSync, statSync, truncateSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Fault, type Store } from "../../engine/ports.ts";
import { chance, sampleCreation, sampleJournal } from "../sample-journal.ts";
import { freshPaths, inProcess, inStore, killed, linesOf } from "../stored-file.ts";
import { at, commitAll, folded, prefix } from "../stored-journal.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const fresh = freshPaths();

describe("a process is killed while it commits:", () => {
  test.each([
    ["one run", 1, 60],
    ["one run", 1, 350],
    ["many runs", 24, 200],
    ["many runs", 24, 900],
  ])("%s (%i, after %i acknowledgements) lose nothing that was acknowledged", async (_, runs, kill) => {
    const path = fresh();
    const child = inProcess(
      path,
      `await Promise.all(Array.from({ length: ${runs} }, async (_, i) => {
         for (const { row, after } of sampleJournal(i, 600)) {
           await store.commit({ run: "r" + i, row, after, ...(row.turn === 1 && { create: sampleCreation }) });
           say(i + " " + row.turn);
         }
       }));`,
    );
    const acknowledged = new Map<string, number>();
    let seen = 0;
    for await (const line of linesOf(child)) {
      const [run, turn] = line.split(" ") as [string, string];
      acknowledged.set(run, Number(turn));
      if (++seen === kill) await killed(child);
    }
    expect(seen).toBeGreaterThanOrEqual(kill);
    await inStore(path, async (store) => {
      for (const [run, turn] of acknowledged) {
        const { turn: stored } = (await store.record(`r${run}`)) ?? { turn: 0 };
        expect(stored).toBeGreaterThanOrEqual(turn);
        expect(await folded(store, `r${run}`)).toBe(prefix(sampleJournal(Number(run), stored), stored));
        expect(await store.verify(`r${run}`)).toEqual([]);
      }
    });
  });
});

test("a torn tail of the log loses only what was not acknowledged, wherever it is cut", async () => {
  const path = fresh();
  const journal = sampleJournal(5, 60);
  await inStore(path, (store) => commitAll(store, "r", journal.slice(0, 10)));
  await using store = await openSqliteStore(path);
  /** Length of the log when each turn was acknowledged. */
  const lengths: number[] = [];
  for (const one of journal.slice(10)) {
    await commitAll(store, "r", [one]);
    lengths.push(statSync(`${path}-wal`).size);
  }
  const random = chance(6);
  const whole = at(lengths, -1);
  for (let i = 0; i < 120; i++) {
    const cut = i === 0 ? whole : Math.floor(whole * random());
    const copy = fresh();
    copyFileSync(path, copy);
    copyFileSync(`${path}-wal`, `${copy}-wal`);
    truncateSync(`${copy}-wal`, cut);
    const acknowledged = 10 + lengths.filter((length) => length <= cut).length;
    await inStore(copy, async (torn) => {
      expect((await torn.record("r"))?.turn, `cut at ${cut}`).toBe(acknowledged);
      expect(await folded(torn, "r")).toBe(prefix(journal, acknowledged));
      expect(await torn.verify("r")).toEqual([]);
    });
  }
});

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
}

describe("the disk is full:", () => {
  test("a run alone is told, and goes on once there is room", async () => {
    const path = fresh();
    const journal = sampleJournal(7, 2_000);
    let acknowledged = 0;
    await using store = await openSqliteStore(path, { pagesMax: 80 });
    const error = await faultOf(
      (async () => {
        for (const one of journal) {
          await commitAll(store, "r", [one]);
          acknowledged++;
        }
      })(),
    );
    expect(error).toMatchObject({ code: "store-unavailable", retry: "later" });
    expect(acknowledged).toBeGreaterThan(100);
    await goesOn(path, store, { journal, acknowledged });
  });

  test("everybody who waits is told, and nobody is answered afterwards", async () => {
    const path = fresh();
    await using store = await openSqliteStore(path, { pagesMax: 150 });
    const journals = Array.from({ length: 30 }, (_, i) => sampleJournal(i, 400));
    const acknowledged = journals.map(() => 0);
    const ends = await Promise.all(
      journals.map(async (journal, i) => {
        for (const { row, after } of journal) {
          const commit = { run: `r${i}`, row, after, ...(row.turn === 1 && { create: sampleCreation }) };
          const error = await store.commit(commit).then(
            () => undefined,
            (reason: unknown) => reason,
          );
          if (error !== undefined) return error;
          acknowledged[i] = row.turn;
        }
        return undefined;
      }),
    );
    for (const error of ends) expect(error).toMatchObject({ code: "store-unavailable" });
    for (const [i, journal] of journals.entries()) {
      const { row, after } = at(journal, acknowledged[i] ?? 0);
      expect((await faultOf(store.commit({ run: `r${i}`, row, after }))).code).toBe("store-unavailable");
    }
    await store[Symbol.asyncDispose]();
    await inStore(path, async (again) => {
      for (const [i, journal] of journals.entries()) {
        const turn = (await again.record(`r${i}`))?.turn ?? 0;
        expect(turn).toBeGreaterThanOrEqual(acknowledged[i] ?? 0);
        expect(await folded(again, `r${i}`)).toBe(prefix(journal, turn));
        expect(await again.verify(`r${i}`)).toEqual([]);
      }
    });
  });
});

async function goesOn(
  path: string,
  broken: Store,
  { journal, acknowledged }: { journal: ReturnType<typeof sampleJournal>; acknowledged: number },
): Promise<void> {
  expect((await faultOf(broken.load("r"))).code).toBe("store-unavailable");
  expect((await faultOf(broken.putProgram("d", {}, ""))).code).toBe("store-unavailable");
  await broken[Symbol.asyncDispose]();
  const bytes = readFileSync(path).length;
  expect(bytes).toBeGreaterThan(0);
  await inStore(path, async (store) => {
    const turn = (await store.record("r"))?.turn ?? 0;
    expect(turn).toBeGreaterThanOrEqual(acknowledged);
    await commitAll(store, "r", journal.slice(turn, turn + 50));
    expect(await folded(store, "r")).toBe(prefix(journal, turn + 50));
    expect(await store.verify("r")).toEqual([]);
  });
}

test("a folder that is not there, or a file in its place, is told as such", async () => {
  const path = fresh();
  await inStore(path, async () => undefined);
  for (const bad of [`${path}/inside-a-file.db`, `${path}-folder/missing.db`]) {
    expect(await faultOf(openSqliteStore(bad))).toMatchObject({ code: "store-unavailable", retry: "later" });
    expect(await faultOf(openSqliteStore(bad, { readOnly: true }))).toMatchObject({
      code: "store-unavailable",
    });
  }
});
