// The built-in tool `sql` on a real PostgreSQL server.

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bindSql } from "../../../src/adapter/tool/sql/bind-sql.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { type PostgresServer, postgresMissing, startPostgres } from "../../postgres-server.ts";
import { Bench, codeOf, valueOf } from "./fs-bench.ts";

const SCHEMA = `
  CREATE TABLE customers (id bigint PRIMARY KEY, name text NOT NULL, since date, balance numeric(12, 2), extra jsonb);
  CREATE TABLE orders (id serial PRIMARY KEY, customer bigint REFERENCES customers, total double precision);
  CREATE SCHEMA audit;
  CREATE TABLE audit.entries (id int, at timestamptz);
  INSERT INTO customers VALUES (1, 'Ada', '2020-02-03', 12.30, '{"vip": true}'), (9007199254740993, 'Big', NULL, NULL, NULL);
  CREATE FUNCTION sneak() RETURNS int LANGUAGE plpgsql AS $$
    BEGIN PERFORM set_config('transaction_read_only', 'off', false); DELETE FROM customers; RETURN 1; END $$;
  CREATE ROLE analyst LOGIN; GRANT SELECT ON customers, orders TO analyst;`;

describe.skipIf(postgresMissing() !== undefined)("a PostgreSQL server", () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
    await server.run(SCHEMA);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function database(options: JsonObject = {}, role = "owner") {
    const bench = await Bench.make({}, { SHOP_URL: server.url({ role }) });
    onTestFinished(() => bench[Symbol.asyncDispose]());
    const tool = bench.bind(bindSql, { url_env: "SHOP_URL", ...options });
    const ask = (sql: string, params?: Json) =>
      bench.call(tool, params === undefined ? { sql } : { sql, params });
    return { bench, tool, ask };
  }

  test("is asked with parameters, and its values come as JSON", async () => {
    const { ask } = await database();
    expect(valueOf(await ask("SELECT * FROM customers WHERE id >= $1 ORDER BY id;", [1]))).toEqual({
      query_id: expect.stringMatching(/^q_[0-9a-f]{12}$/),
      columns: ["id", "name", "since", "balance", "extra"],
      rows: [
        [1, "Ada", "2020-02-03", "12.30", { vip: true }],
        ["9007199254740993", "Big", null, null, null],
      ],
      row_count: 2,
      truncated: false,
    });
  });

  test("gives columns also when there is no row", async () => {
    const { ask } = await database();
    expect(valueOf(await ask("SELECT 1 AS one WHERE false"))).toMatchObject({
      columns: ["one"],
      rows: [],
      row_count: 0,
    });
  });

  test.each([
    "WITH x AS (SELECT 1 AS a) SELECT a FROM x",
    "VALUES (1)",
    "TABLE orders",
    "EXPLAIN SELECT 1",
    "SHOW server_version",
  ])("answers %s", async (sql) => {
    const { ask } = await database();
    expect(await ask(sql)).toMatchObject({ ok: true });
  });

  test("returns 1,000 rows whole, and says when there were more", async () => {
    const { ask } = await database();
    expect(valueOf(await ask("SELECT generate_series(1, 1000)"))).toMatchObject({
      row_count: 1000,
      truncated: false,
    });
    expect(valueOf(await ask("SELECT generate_series(1, 1001)"))).toMatchObject({
      row_count: 1000,
      truncated: true,
    });
    // Of a billion rows only the first are made.
    expect(valueOf(await ask("SELECT generate_series(1, 1000000000)"))).toMatchObject({ row_count: 1000 });
  });

  test.each([
    "INSERT INTO orders (total) VALUES (1)",
    "UPDATE customers SET name = 'x'",
    "WITH gone AS (DELETE FROM customers RETURNING *) SELECT * FROM gone",
    "DROP TABLE orders",
    "TRUNCATE orders",
    "CREATE TABLE t (a int)",
    "CREATE TEMP TABLE t (a int)",
    "SELECT * INTO copy FROM customers",
    "SELECT nextval('orders_id_seq')",
    "SELECT sneak()",
    "COPY customers TO PROGRAM 'cat'",
    "COPY customers TO STDOUT",
    "SET transaction_read_only = off",
    "DO $$ BEGIN DELETE FROM customers; END $$",
    "CALL sneak()",
    "COMMIT",
    "SELECT 1; DELETE FROM customers",
    "EXPLAIN ANALYZE DELETE FROM customers",
    "SHOW all; DELETE FROM customers",
    "LISTEN x",
  ])("is not changed by %s", async (sql) => {
    const { ask } = await database();
    expect(["read_only", "sql_error"]).toContain(codeOf(await ask(sql)));
    expect(
      valueOf(await ask("SELECT count(*), (SELECT count(*) FROM pg_largeobject_metadata) FROM customers"))[
        "rows"
      ],
    ).toEqual([[2, 0]]);
  });

  test("forgets what a reading transaction lets through", async () => {
    const { ask } = await database();
    await ask("SELECT lo_create(0), set_config('application_name', 'x', false)");
    expect(valueOf(await ask("SELECT count(*) FROM pg_largeobject_metadata"))["rows"]).toEqual([[0]]);
  });

  test("stops a query that takes too long", async () => {
    const { ask } = await database({ timeout_sec: 0.5 });
    expect(codeOf(await ask("SELECT pg_sleep(60)"))).toBe("too_slow");
    expect(codeOf(await ask("SELECT set_config('statement_timeout', '0', false), pg_sleep(60)"))).toBe(
      "too_slow",
    );
  });

  test("names what is wrong with a query, and shows only what the role may see", async () => {
    const { ask } = await database({}, "analyst");
    expect(await ask("SELECT nothing FROM customers")).toMatchObject({
      code: "sql_error",
      message: expect.stringContaining("nothing"),
    });
    expect(await ask("SELECT * FROM audit.entries")).toMatchObject({
      code: "sql_error",
      message: expect.stringContaining("permission denied"),
    });
    expect(await ask("SELECT $1", { a: 1 })).toMatchObject({ code: "bad_arguments" });
  });

  test("lists and describes its tables", async () => {
    const { bench } = await database();
    const tables = valueOf(await bench.call(bench.bind(bindSql, { url_env: "SHOP_URL", op: "tables" }), {}));
    expect((tables["tables"] as readonly JsonObject[]).map(({ name }) => name)).toEqual([
      "audit.entries",
      "customers",
      "orders",
    ]);
    const tool = bench.bind(bindSql, { url_env: "SHOP_URL", op: "describe" });
    expect(valueOf(await bench.call(tool, { table: "customers" }))["columns"]).toContainEqual({
      name: "balance",
      type: "numeric(12,2)",
      nullable: true,
      primary_key: false,
    });
    expect(await bench.call(tool, { table: "customer" })).toMatchObject({
      message: expect.stringContaining("did you mean `customers`?"),
    });
  });

  test("that cannot be reached is a fault to try again, and its URL stays unsaid", async () => {
    await using bench = await Bench.make({}, { SHOP_URL: "postgres://me:canary-91aa@127.0.0.1:1/x" });
    const tool = bench.bind(bindSql, { url_env: "SHOP_URL" });
    const asked = bench.call(tool, { sql: "SELECT 1" });
    await expect(asked).rejects.toMatchObject({ code: "database_unreachable", retry: "later" });
    await expect(asked).rejects.not.toMatchObject({ message: expect.stringContaining("canary") });
  });
});

test("a URL that is not set, or is none, is asked for by the name of its variable", async () => {
  await using bench = await Bench.make({}, { BAD_URL: "mysql://x:canary@h/y" });
  const unset = bench.bind(bindSql, { url_env: "NO_SUCH_URL" });
  expect(await bench.call(unset, { sql: "SELECT 1" })).toMatchObject({
    code: "not_configured",
    message: expect.stringContaining("`NO_SUCH_URL`"),
  });
  const bad = bench.bind(bindSql, { url_env: "BAD_URL" });
  const answer = await bench.call(bad, { sql: "SELECT 1" });
  expect(answer).toMatchObject({ code: "not_configured" });
  expect(JSON.stringify(answer)).not.toContain("canary");
});
