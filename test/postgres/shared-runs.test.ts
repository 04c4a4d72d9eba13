import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openPostgresStore, type PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { sampleCreation, sampleJournal } from "../../src/store/sample-journal.ts";
import { commitAll } from "../../src/store/stored-journal.ts";
import { type PostgresServer, postgresMissing, startPostgres } from "../postgres-server.ts";
import { sharedContract } from "../shared/contract.ts";

describe.skipIf(postgresMissing() !== undefined)("a PostgreSQL server", () => {
  let server: PostgresServer;
  let count = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const nextUrl = () => `${server.url()}&schema=shared${++count}`;

  sharedContract("keeps the promises of a shared store:", async () => {
    const url = nextUrl();
    const schema = `shared${count}`;
    const opened: PostgresStore[] = [];
    return {
      async open() {
        const store = await openPostgresStore(url);
        opened.push(store);
        return Object.assign(store, { store });
      },
      die: ({ shared }) => {
        const { id } = shared as PostgresStore["shared"];
        return server.run(`UPDATE ${schema}.worker SET beat = beat - interval '1 minute' WHERE id = '${id}'`);
      },
      async [Symbol.asyncDispose]() {
        for (const store of opened) await store[Symbol.asyncDispose]();
      },
    };
  });

  test("who leaves in order leaves its runs to others at once", async () => {
    const url = nextUrl();
    const [leaving, staying] = [await openPostgresStore(url), await openPostgresStore(url)];
    await leaving.shared.beat();
    await staying.shared.beat();
    const heard = Promise.withResolvers<void>();
    const ready = Promise.withResolvers<void>();
    staying.shared.listen((run) => (run === "r" ? ready : heard).resolve());
    await heard.promise;
    const [first] = sampleJournal(1, 1);
    await leaving.commit({
      run: "r",
      row: first?.row as never,
      after: first?.after as never,
      create: sampleCreation,
    });
    await ready.promise;
    await leaving[Symbol.asyncDispose]();
    expect(await staying.shared.claim(1, 0)).toEqual(["r"]);
    await staying[Symbol.asyncDispose]();
  });

  test("all machines go by the clock of the server", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 3_600_000 });
    try {
      await using store = await openPostgresStore(nextUrl());
      const ahead = () => Math.round((store.shared.now() - Date.now()) / 60_000);
      expect(ahead()).toBe(60);
      await store.shared.beat();
      expect(ahead()).toBe(60);
    } finally {
      vi.useRealTimers();
    }
  });

  test("who only waits does not count against what a process takes up", async () => {
    await using store = await openPostgresStore(nextUrl());
    await store.shared.beat();
    await commitAll(store, "r", sampleJournal(1, 1));
    expect(store.shared.held).toBe(1);
    await store.shared.letGo(["r"]);
    await server.run(`UPDATE shared${count}.head SET work = false, due = NULL`);
    expect(await store.shared.claimOne("r")).toBe(true);
    expect([store.shared.isOurs("r"), store.shared.held]).toEqual([true, 0]);
  });

  test("who is connected anew after its connection was cut is told to look around", async () => {
    await using store = await openPostgresStore(nextUrl());
    let told = 0;
    const twice = Promise.withResolvers<void>();
    const once = Promise.withResolvers<void>();
    store.shared.listen(() => (++told === 1 ? once : twice).resolve());
    await once.promise;
    await server.cut();
    await twice.promise;
  });
});
