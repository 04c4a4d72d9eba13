// What a server that only shows a store hears of it.

import { expect, test } from "vitest";
import { watchedStore } from "../../src/server/watched-store.ts";
import { sampleJournal } from "../../src/store/sample-journal.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { change, freshPaths, inStore } from "../../src/store/stored-file.ts";
import { commitAll } from "../../src/store/stored-journal.ts";

const fresh = freshPaths();

test("a run that is damaged keeps nobody from hearing of the others", async () => {
  const path = fresh();
  await inStore(path, async (store) => {
    await commitAll(store, "damaged", sampleJournal(1, 2));
    await commitAll(store, "sound", sampleJournal(2, 3));
  });
  change(path, "DROP TRIGGER run_is_not_changed; UPDATE run SET setup = '[' WHERE id = 1");
  await using store = await openSqliteStore(path, { readOnly: true });
  await expect(store.record("damaged")).rejects.toMatchObject({ code: "store-corrupt" });
  const { standing } = watchedStore(store, () => undefined);
  const found = await standing(["damaged", "sound", "none"]);
  expect([...found].map(([run, { turn }]) => [run, turn])).toEqual([["sound", 3]]);
});
