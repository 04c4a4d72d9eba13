// What a caller is told when its connection is lost while it writes, when statements are given up, and when the
// server can only be read for a while: the truth, once it is known.

import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { applyTurn } from "../../src/core/apply.ts";
import { FACTS_VERSION } from "../../src/core/facts.ts";
import { Fault, type Store } from "../../src/engine/ports.ts";
import { openPostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/postgres-store.ts";
import { type SampleTurn, sampleCreation, sampleJournal } from "../../src/store/sample-journal.ts";
import { at, commitAll, forkTurn } from "../../src/store/stored-journal.ts";
import { type PostgresServer, postgresMissing, startPostgres } from "../postgres-server.ts";
import { type Cut, CuttingProxy } from "./cutting-proxy.ts";

const journal = sampleJournal(7, 6);
const create = sampleCreation;

/** Each write, and the message that ends it. */
const writes: readonly { name: string; at: string; write: (store: Store) => Promise<boolean> }[] = [
  { name: "a turn", at: "\0commit\0", write: (store) => store.commit({ run: "r", ...turn(4) }) },
  { name: "a new run", at: "COMMIT\0", write: (store) => store.commit({ run: "new", ...turn(1), create }) },
  {
    name: "a fork",
    at: "COMMIT\0",
    write: (store) => store.fork({ from: "r", turn: 2, run: "new", ...forkTurn(journal, 2), create }),
  },
  {
    name: "a journal from elsewhere",
    at: "COMMIT\0",
    write: (store) =>
      store.take({
        ...{ run: "new", rows: journal.map(({ row }) => row), shared: 0 },
        ...{ end: turn(6).after, create },
      }),
  },
];

const turn = (number: number): SampleTurn => at(journal, number - 1);

describe.skipIf(postgresMissing() !== undefined)("a PostgreSQL server", () => {
  let server: PostgresServer;
  let count = 0;
  beforeAll(async () => {
    server = await startPostgres();
    await server.run("CREATE ROLE hasty SUPERUSER LOGIN");
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** A store with three turns of run `r`. */
  async function stored(url: string, options: PostgresStoreOptions = {}) {
    const place = `${url}${url.includes("?") ? "&" : "?"}schema=lost${++count}`;
    const store = await openPostgresStore(place, options);
    await commitAll(store, "r", journal.slice(0, 3));
    return { store, schema: `lost${count}` };
  }

  describe.for(writes)("$name whose connection is lost", ({ at: message, write }) => {
    test.for<Cut["when"]>(["before", "after"])("%s it was done is written once", async (when) => {
      await using proxy = await CuttingProxy.open(server.socket);
      const { store } = await stored(proxy.url);
      proxy.cut({ at: message, when });
      expect(await write(store)).toBe(true);
      expect(proxy.cuts).toBe(1);
      for (const run of await store.names({ prefix: "", limit: 9 }))
        expect(await store.verify(run)).toEqual([]);
      expect(await write(store), "the same again is one too many").toBe(false);
      await store[Symbol.asyncDispose]();
    });
  });

  test("a group whose connection is lost after it was done tells who lost to a rival", async () => {
    await using proxy = await CuttingProxy.open(server.socket);
    const { store, schema } = await stored(proxy.url);
    await commitAll(store, "s", journal.slice(0, 3));
    await using rival = await openPostgresStore(`${server.url()}&schema=${schema}`);
    expect(await rival.commit({ run: "s", ...turn(4) })).toBe(true);
    proxy.cut({ at: "\0commit\0", when: "after" });
    const other = { ...turn(4), row: { ...turn(4).row, at: turn(4).row.at + 1 } };
    const both = [store.commit({ run: "r", ...turn(4) }), store.commit({ run: "s", ...other })];
    expect(await Promise.all(both)).toEqual([true, false]);
    await store[Symbol.asyncDispose]();
  });

  test.for<Cut["when"]>(["before", "after"])(
    "a turn to a server that falls silent %s it was done is written once",
    async (when) => {
      await using proxy = await CuttingProxy.open(server.socket);
      const { store } = await stored(proxy.url, { answerMs: 300 });
      proxy.cut({ at: "\0commit\0", when, how: "silent" });
      expect(await store.commit({ run: "r", ...turn(4) })).toBe(true);
      expect(proxy.cuts).toBe(1);
      expect(await store.verify("r")).toEqual([]);
      await store[Symbol.asyncDispose]();
    },
  );

  test("a connection that complains once more when nobody waits for it harms nobody", async () => {
    await using proxy = await CuttingProxy.open(server.socket);
    const { store } = await stored(proxy.url);
    const thrown: unknown[] = [];
    const note = (error: unknown) => thrown.push(error);
    process.on("uncaughtException", note);
    proxy.cut({ at: "\0commit\0", when: "before", how: "refused" });
    expect(await store.commit({ run: "r", ...turn(4) })).toBe(true);
    await proxy.parted.promise;
    process.off("uncaughtException", note);
    expect(thrown).toEqual([]);
    await store[Symbol.asyncDispose]();
  });

  test("of a group with a turn that the database refuses only that turn is", async () => {
    const { store } = await stored(server.url());
    for (const run of ["s", "t"]) await commitAll(store, run, journal.slice(0, 3));
    const odd = { ...turn(4), row: { ...turn(4).row, v: 2 ** 40 } };
    const all = await Promise.allSettled([
      store.commit({ run: "r", ...turn(4) }),
      store.commit({ run: "s", ...odd }),
      store.commit({ run: "t", ...turn(4) }),
    ]);
    expect(all.map((one) => (one.status === "fulfilled" ? one.value : (one.reason as Fault).retry))).toEqual([
      true,
      "never",
      true,
    ]);
    expect((await store.record("s"))?.turn).toBe(3);
    await store[Symbol.asyncDispose]();
  });

  test("turns that are large together are not sent together, and small ones are", async () => {
    const { store, schema } = await stored(server.url());
    const runs = ["s", "t", "u"];
    for (const run of runs) await commitAll(store, run, journal.slice(0, 3));
    const large = (bytes: number): SampleTurn => {
      const before = turn(3).after;
      const text = randomBytes(bytes).toString("base64");
      const facts = [{ type: "noted", what: "message", text, by: "somebody" }] as const;
      const row = { turn: before.turn + 1, at: before.now, v: FACTS_VERSION, facts };
      return { row, after: applyTurn(before, row) };
    };
    const transactions = async (written: SampleTurn, ids: readonly string[]) => {
      const done = ids.map((run) => store.commit({ run, ...written }));
      expect(await Promise.all(done)).toEqual(ids.map(() => true));
      const names = ids.map((run) => `'${run}'`).join();
      const client = new Client({ connectionString: server.url() });
      await client.connect();
      const { rows } = await client.query<{ count: string }>(
        `SELECT count(DISTINCT t.xmin::text) FROM ${schema}.turn t JOIN ${schema}.run r ON r.id = t.run
          WHERE t.turn = 4 AND r.name IN (${names})`,
      );
      await client.end();
      return Number(rows[0]?.count);
    };
    expect(await transactions(large(10), ["r", "s"])).toBe(1);
    expect(await transactions(large(6_000_000), ["t", "u"])).toBe(2);
    await store[Symbol.asyncDispose]();
  });

  test("tables whose making is cut off are made by the next who comes", async () => {
    await using proxy = await CuttingProxy.open(server.socket);
    for (const when of ["before", "after"] as const) {
      const place = `${proxy.url}?schema=half_${when}`;
      proxy.cut({ at: "COMMIT\0", when });
      const fault = await faultOf(openPostgresStore(place));
      expect(fault).toMatchObject({ code: "store-unavailable", retry: "later" });
      const store = await openPostgresStore(place);
      await commitAll(store, "r", journal.slice(0, 3));
      expect(await store.verify("r")).toEqual([]);
      await store[Symbol.asyncDispose]();
    }
  });

  test("a statement that times out is tried again", async () => {
    await server.run("ALTER ROLE hasty SET statement_timeout = '100ms'");
    const { store, schema } = await stored(server.url({ role: "hasty" }));
    await using lock = await locked(schema, "r");
    const done = store.commit({ run: "r", ...turn(4) });
    const first = await lock.waiting();
    while ((await lock.waiting()) === first);
    await lock.release();
    expect(await done).toBe(true);
    await server.run("ALTER ROLE hasty RESET statement_timeout");
    await store[Symbol.asyncDispose]();
  });

  test("a statement that times out for too long is given up with the reason", async () => {
    await server.run("ALTER ROLE hasty SET statement_timeout = '50ms'");
    const { store, schema } = await stored(server.url({ role: "hasty" }), { outageMs: 300 });
    await using lock = await locked(schema, "r");
    const fault = await faultOf(store.commit({ run: "r", ...turn(4) }));
    expect(fault).toMatchObject({ code: "store-unavailable", retry: "later" });
    expect(fault.message).toMatch(/^the database `.*` gave up a statement: .*statement timeout$/);
    await lock.release();
    expect(await store.commit({ run: "r", ...turn(4) })).toBe(true);
    await server.run("ALTER ROLE hasty RESET statement_timeout");
    await store[Symbol.asyncDispose]();
  });

  test("a group that is the victim of a deadlock is written all the same", async () => {
    // Who waits looks once whether it waits for ever: late enough that it does by then.
    await server.run("ALTER ROLE hasty SET deadlock_timeout = '4s'");
    const { store, schema } = await stored(server.url({ role: "hasty" }));
    await commitAll(store, "s", journal.slice(0, 3));
    await using lock = await locked(schema, "s");
    const both = [store.commit({ run: "r", ...turn(4) }), store.commit({ run: "s", ...turn(4) })];
    // The group has `r` and waits for `s`; whoever has `s` wants `r`, and has more patience.
    await lock.waiting();
    await lock.take("r");
    await lock.release();
    expect(await Promise.all(both)).toEqual([true, true]);
    await server.run("ALTER ROLE hasty RESET deadlock_timeout");
    await store[Symbol.asyncDispose]();
  });

  test("a server that can only be read for a while is waited for", async () => {
    const { store } = await stored(server.url());
    await readOnly("on");
    const done = store.commit({ run: "r", ...turn(4) });
    expect((await store.record("r"))?.turn, "reading goes on").toBe(3);
    await readOnly("off");
    expect(await done).toBe(true);
    await store[Symbol.asyncDispose]();
  });

  test("a server that can only be read for too long is named as such", async () => {
    const { store } = await stored(server.url(), { outageMs: 200 });
    await readOnly("on");
    const fault = await faultOf(store.commit({ run: "r", ...turn(4) }));
    await readOnly("off");
    expect(fault.message).toMatch(/^`.*` can only be read, as a replica does \(name the primary server\)$/);
    await store[Symbol.asyncDispose]();
  });

  async function readOnly(value: "on" | "off"): Promise<void> {
    await server.run(
      `BEGIN READ WRITE; ALTER DATABASE postgres SET default_transaction_read_only = ${value}; COMMIT`,
    );
    await server.cut();
  }

  /** The row of `head` of a run, held by somebody else. */
  async function locked(schema: string, run: string) {
    const client = new Client({ connectionString: server.url() });
    await client.connect();
    const take = (name: string) =>
      client.query(
        `SELECT 1 FROM ${schema}.head h JOIN ${schema}.run r ON r.id = h.run WHERE r.name = $1 FOR UPDATE OF h`,
        [name],
      );
    /** When the statement began that waits for a row; there will be one. */
    const waiting = async (): Promise<string> => {
      for (;;) {
        await client.query("SELECT pg_stat_clear_snapshot()");
        const { rows } = await client.query<{ began: string }>(
          `SELECT query_start::text AS began FROM pg_stat_get_activity(NULL)
            WHERE wait_event_type = 'Lock' AND usesysid = 'hasty'::regrole`,
        );
        if (rows[0] !== undefined) return rows[0].began;
      }
    };
    await client.query("SET deadlock_timeout = '1min'");
    await client.query("BEGIN");
    await take(run);
    return {
      ...{ take, waiting },
      release: () => client.query("ROLLBACK"),
      [Symbol.asyncDispose]: () => client.end(),
    };
  }
});

async function faultOf(done: Promise<unknown>): Promise<Fault> {
  const error = await done.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Fault)) throw new Error(`no fault: ${String(error)}`);
  return error;
}
