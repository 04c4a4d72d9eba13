import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { storeConformance } from "../conformance.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "packloop-store-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
storeConformance("the store in SQLite", async () => {
  const path = join(folder, `${++count}.db`);
  let store = await openSqliteStore(path);
  return {
    store,
    async reopen() {
      await store[Symbol.asyncDispose]();
      store = await openSqliteStore(path);
      return store;
    },
  };
});
