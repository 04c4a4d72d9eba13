import { afterAll, beforeAll, describe } from "vitest";
import { type PostgresServer, postgresMissing, startPostgres } from "../../../test/postgres-server.ts";
import { storeConformance } from "../conformance.ts";
import { openPostgresStore } from "./postgres-store.ts";

describe.skipIf(postgresMissing() !== undefined)("a PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  let count = 0;
  storeConformance("the store in PostgreSQL", async () => {
    const url = `${server.url()}&schema=s${++count}`;
    const open = () => openPostgresStore(url, { programGraceMs: 0 });
    let store = await open();
    return {
      store,
      async reopen() {
        await store[Symbol.asyncDispose]();
        store = await open();
        return store;
      },
    };
  });
});
