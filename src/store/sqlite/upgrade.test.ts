// Files of format 1, which had neither the list of runs that ask somebody nor an index by pack.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { fold } from "../../core/apply.ts";
import type { Fact } from "../../core/facts.ts";
import type { Store } from "../../engine/ports.ts";
import { type SampleTurn, sampleJournal } from "../sample-journal.ts";
import { commitAll } from "../stored-journal.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "packloop-upgrade-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Waits for an event since that time. */
function waits(since: number): SampleTurn {
  const [first] = sampleJournal(50, 1) as [SampleTurn];
  const facts = first.row.facts.filter(({ type }) => type !== "asked");
  const asked: Fact = { type: "asked", step: 1, ask: { kind: "event", allow: ["Go"] } };
  const row = { ...first.row, at: first.row.at + since, facts: [...facts, asked] };
  return { row, after: fold([row]) };
}

async function oldFile(name: string): Promise<string> {
  const path = join(folder, name);
  const store = await openSqliteStore(path);
  await commitAll(store, "late", [waits(9)]);
  await commitAll(store, "early", [waits(1)]);
  await store[Symbol.asyncDispose]();
  const db = new DatabaseSync(path);
  db.exec("DROP TABLE inbox; DROP INDEX run_pack; UPDATE meta SET value = 1 WHERE name = 'schema'");
  db.close();
  return path;
}

const asking = async (store: Store) => (await store.asking({ limit: 9 })).map(({ run }) => run);

test("a file of format 1 is brought up by whoever writes to it, and stays so", async () => {
  const path = await oldFile("written.db");
  for (let opened = 0; opened < 2; opened++) {
    const store = await openSqliteStore(path);
    expect(await asking(store)).toEqual(["early", "late"]);
    expect((await store.list({ packId: "none", limit: 9 })).length).toBe(0);
    await store[Symbol.asyncDispose]();
  }
});

test("a file of format 1 that is only read says the same", async () => {
  const path = await oldFile("read.db");
  const store = await openSqliteStore(path, { readOnly: true });
  expect(await asking(store)).toEqual(["early", "late"]);
  const [first] = await store.asking({ limit: 1 });
  expect(await store.asking({ limit: 9, after: first?.place ?? "" })).toMatchObject([{ run: "late" }]);
  await store[Symbol.asyncDispose]();
});
