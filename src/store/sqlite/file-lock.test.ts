import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { Fault } from "../../engine/ports.ts";
import { sampleJournal } from "../sample-journal.ts";
import { freshPaths, inProcess, killed, linesOf } from "../stored-file.ts";
import { commitAll } from "../stored-journal.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const fresh = freshPaths();

async function refusal(path: string): Promise<Fault> {
  const error: unknown = await openSqliteStore(path).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
}

describe("one process writes at a time:", () => {
  test("a second one is refused and told who the first is, and readers are not disturbed", async () => {
    const path = fresh();
    const journal = sampleJournal(1, 3);
    const child = inProcess(
      path,
      `for (const { row, after } of sampleJournal(1, 3))
         await store.commit({ run: "r", row, after, ...(row.turn === 1 && { create: sampleCreation }) });
       say("open"); setInterval(() => undefined, 1000);`,
    );
    try {
      await linesOf(child).next();
      const { code, retry, message } = await refusal(path);
      expect({ code, retry }).toEqual({ code: "store-locked", retry: "later" });
      expect(message).toContain(`process ${child.pid} on `);
      expect(message).toMatch(/since \d{4}-\d\d-\d\dT/);
      await using reading = await openSqliteStore(path, { readOnly: true });
      expect((await reading.load("r"))?.rows).toHaveLength(3);
      const { row, after } = journal[2] as (typeof journal)[number];
      const next = { ...row, turn: 4 };
      await expect(reading.commit({ run: "r", row: next, after })).rejects.toMatchObject({
        code: "store-read-only",
      });
    } finally {
      await killed(child);
    }
  });

  test("a process that is killed lets go at once", async () => {
    const path = fresh();
    const child = inProcess(path, `say("open"); setInterval(() => undefined, 1000);`);
    await linesOf(child).next();
    await killed(child);
    await using store = await openSqliteStore(path);
    await commitAll(store, "r", sampleJournal(2, 3));
  });

  test("a second store in the same process is refused, and closing lets go", async () => {
    const path = fresh();
    const store = await openSqliteStore(path);
    const { code, message } = await refusal(path);
    expect(code).toBe("store-locked");
    expect(message).toContain(`process ${process.pid} `);
    await store[Symbol.asyncDispose]();
    await using again = await openSqliteStore(path);
    expect(await again.list({ limit: 1 })).toEqual([]);
  });

  test("a store that could not be opened holds no lock", async () => {
    const path = fresh();
    await using store = await openSqliteStore(path);
    expect(store).toBeDefined();
    expect((await refusal(`${path}-wal`)).code).toBe("store-foreign");
    expect((await refusal(`${path}-wal`)).code).toBe("store-foreign");
  });

  test.each([
    ["one run", "1"],
    ["many runs", "40"],
  ])("a process that forgets to close a store with %s ends all the same", async (_, runs) => {
    const child = inProcess(
      fresh(),
      `const runs = Array.from({ length: ${runs} }, (_, i) => sampleJournal(i, 30));
       await Promise.all(runs.map(async (journal, i) => {
         for (const { row, after } of journal)
           await store.commit({ run: "r" + i, row, after, ...(row.turn === 1 && { create: sampleCreation }) });
       }));`,
    );
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(0);
  });
});
