// The built-in tool `sql` on real SQLite files and CSV files.

import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { bindSql } from "../../../src/adapter/tool/sql/bind-sql.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { Bench, codeOf, problemsOf, valueOf } from "./fs-bench.ts";

const SCHEMA = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers(id), total REAL, note BLOB);
  CREATE VIEW big_orders AS SELECT * FROM orders WHERE total > 100;
  INSERT INTO customers VALUES (1, 'Ada', 'UK'), (2, 'Bo', 'SE'), (9007199254740993, 'Big', NULL);
  INSERT INTO orders VALUES (1, 1, 250.5, x'0102'), (2, 1, 20, NULL), (3, 2, 99.9, NULL);`;

async function shop(options: JsonObject = {}) {
  const bench = await Bench.make();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const file = join(bench.around.folder, "shop.db");
  const db = new DatabaseSync(file);
  db.exec(SCHEMA);
  db.close();
  const tool = bench.bind(bindSql, { path: "shop.db", ...options });
  const ask = (sql: string, params?: Json) =>
    bench.call(tool, params === undefined ? { sql } : { sql, params });
  return { bench, tool, ask, file };
}

describe("a query", () => {
  test("gives columns, rows and an id that names its text and parameters", async () => {
    const { ask, tool } = await shop();
    const sql =
      "SELECT c.name, sum(o.total) AS total, c.id FROM customers c JOIN orders o ON o.customer = c.id WHERE c.country = ? GROUP BY c.id";
    const value = valueOf(await ask(sql, ["UK"]));
    expect(value).toEqual({
      query_id: expect.stringMatching(/^q_[0-9a-f]{12}$/),
      columns: ["name", "total", "id"],
      rows: [["Ada", 270.5, 1]],
      row_count: 1,
      truncated: false,
    });
    expect(valueOf(await ask(` ${sql} `, ["UK"]))["query_id"]).toBe(value["query_id"]);
    expect(valueOf(await ask(sql, ["SE"]))["query_id"]).not.toBe(value["query_id"]);
    expect([tool.tier, tool.safe]).toEqual(["read", true]);
  });

  test("takes named parameters", async () => {
    const { ask } = await shop();
    expect(valueOf(await ask("SELECT :a + @b AS n", { a: 1, b: 2 }))["rows"]).toEqual([[3]]);
  });

  test("keeps large numbers, bytes and endless values readable as JSON", async () => {
    const { ask } = await shop();
    const { rows } = valueOf(
      await ask("SELECT max(id), 9e999, (SELECT note FROM orders WHERE id = 1), NULL FROM customers"),
    );
    expect(rows).toEqual([["9007199254740993", "Infinity", { base64: "AQI=", bytes: 2 }, null]]);
  });

  test("returns 1,000 rows whole, and says when there were more", async () => {
    const { ask } = await shop();
    const count = (n: number) =>
      `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < ${n}) SELECT x FROM c`;
    expect(valueOf(await ask(count(1000)))).toMatchObject({ row_count: 1000, truncated: false });
    const more = valueOf(await ask(count(1001)));
    expect(more).toMatchObject({
      row_count: 1000,
      truncated: true,
      note: expect.stringContaining("1000 rows"),
    });
  });

  test("stays within its bytes, and cuts a value that is too long by itself", async () => {
    const { ask } = await shop({ max_bytes: 40_000 });
    const value = valueOf(
      await ask("SELECT printf('%.*c', 100000, 'x') UNION ALL SELECT printf('%.*c', 30000, 'y')"),
    );
    expect(value).toMatchObject({ row_count: 1, truncated: true });
    expect(JSON.stringify(value)).toContain("[… 67232 more characters]");
    expect(JSON.stringify(value).length).toBeLessThan(41_000);
  });

  test.each([
    ["SELEC 1", "sql_error"],
    ["SELECT * FROM nowhere", "sql_error"],
    ["SELECT 1; SELECT 2", "sql_error"],
    ["", "sql_error"],
    ["-- nothing", "sql_error"],
  ])("%j is answered with %s", async (sql, code) => {
    const { ask } = await shop();
    expect(codeOf(await ask(sql))).toBe(code);
  });

  test("may end with a semicolon and a remark", async () => {
    const { ask } = await shop();
    expect(valueOf(await ask("SELECT 1; -- one\n /* two; */ ;"))["rows"]).toEqual([[1]]);
  });

  test("without end is stopped, and the next one is answered", async () => {
    const { ask } = await shop({ timeout_sec: 1 });
    const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
    expect(codeOf(await ask(endless))).toBe("too_slow");
    expect(valueOf(await ask("SELECT 1"))["rows"]).toEqual([[1]]);
  });

  test("that nobody waits for any more is stopped", async () => {
    const { bench, tool } = await shop();
    const giving = new AbortController();
    const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
    const asked = bench.call(tool, { sql: endless }, { signal: giving.signal });
    giving.abort(new Error("no longer needed"));
    await expect(asked).rejects.toThrow("no longer needed");
  });

  test("does not outlive whoever asked it", async () => {
    const { file } = await shop();
    const program = new URL("../../../src/adapter/tool/sql/sqlite-process.ts", import.meta.url);
    const child = fork(fileURLToPath(program), [], {
      execArgv: [],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const sql = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
    child.send({
      source: { path: file },
      question: { op: "query", sql, params: [] },
      limits: { rows: 1, bytes: 1000, ms: 100 },
    });
    child.once("spawn", () => setImmediate(() => child.disconnect()));
    expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
  });

  test("that makes a value of endless length is answered like any other", async () => {
    const { ask } = await shop();
    const large =
      "SELECT length(group_concat(printf('%.*c', 100000000, 'x'))) FROM (VALUES (1),(2),(3),(4),(5),(6),(7))";
    expect(codeOf(await ask(large))).toBe("sql_error");
    expect(valueOf(await ask("SELECT 1"))["rows"]).toEqual([[1]]);
  });

  test("is answered while another one runs", async () => {
    const { ask } = await shop();
    const answers = await Promise.all([1, 2, 3].map((n) => ask("SELECT ?", [n])));
    expect(answers.map((answer) => valueOf(answer)["rows"])).toEqual([[[1]], [[2]], [[3]]]);
  });
});

describe("nothing is written", () => {
  test.each([
    "INSERT INTO customers VALUES (4, 'Eve', NULL)",
    "INSERT INTO customers VALUES (4, 'Eve', NULL) RETURNING id",
    "UPDATE customers SET name = 'x'",
    "WITH x AS (SELECT 1) DELETE FROM customers",
    "DELETE FROM customers RETURNING *",
    "DROP TABLE orders",
    "CREATE TABLE t (a)",
    "CREATE TEMP TABLE t (a)",
    "ATTACH 'other.db' AS other",
    "VACUUM",
    "VACUUM INTO 'copy.db'",
    "PRAGMA query_only = OFF",
    "PRAGMA user_version = 7",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA writable_schema = ON",
    "BEGIN EXCLUSIVE",
    "SAVEPOINT s",
    "REINDEX",
    "ANALYZE",
    "SELECT load_extension('x')",
    "CREATE VIRTUAL TABLE v USING fts5(a)",
  ])("by %s", async (sql) => {
    const { ask, file, bench } = await shop();
    expect(["read_only", "sql_error"]).toContain(codeOf(await ask(sql)));
    const after = new DatabaseSync(file, { readOnly: true });
    expect(
      after.prepare("SELECT count(*) AS n, group_concat(name) AS names FROM customers").get(),
    ).toMatchObject({
      n: 3,
      names: "Ada,Bo,Big",
    });
    expect(after.prepare("SELECT count(*) AS n FROM sqlite_schema").get()).toMatchObject({ n: 3 });
    expect(after.prepare("PRAGMA user_version").get()).toMatchObject({ user_version: 0 });
    after.close();
    expect(existsSync(join(bench.around.folder, "copy.db"))).toBe(false);
  });

  test("and a write is told why", async () => {
    const { ask } = await shop();
    expect(await ask("DELETE FROM customers")).toMatchObject({
      code: "read_only",
      message: "the database is opened for reading only (write a SELECT)",
    });
  });
});

describe("the schema", () => {
  test("lists tables and views with their columns", async () => {
    const { bench } = await shop();
    const tool = bench.bind(bindSql, { path: "shop.db", op: "tables" });
    expect(valueOf(await bench.call(tool, {}))).toEqual({
      tables: [
        {
          name: "big_orders",
          kind: "view",
          columns: ["id INTEGER", "customer INTEGER", "total REAL", "note BLOB"],
        },
        { name: "customers", kind: "table", columns: ["id INTEGER", "name TEXT", "country TEXT"] },
        {
          name: "orders",
          kind: "table",
          columns: ["id INTEGER", "customer INTEGER", "total REAL", "note BLOB"],
        },
      ],
    });
  });

  test("describes one table, or suggests the one that was meant", async () => {
    const { bench } = await shop();
    const tool = bench.bind(bindSql, { path: "shop.db", op: "describe" });
    const value = valueOf(await bench.call(tool, { table: "orders" }));
    expect(value["columns"]).toContainEqual({
      name: "id",
      type: "INTEGER",
      nullable: false,
      primary_key: true,
    });
    expect(value["references"]).toEqual([{ column: "customer", table: "customers", to: "id" }]);
    expect(await bench.call(tool, { table: "order" })).toMatchObject({
      code: "no_table",
      message: "there is no table `order` (did you mean `orders`?)",
    });
  });
});

describe("files", () => {
  test("that are missing are named as such", async () => {
    await using bench = await Bench.make();
    const tool = bench.bind(bindSql, { path: "none.db" });
    expect(codeOf(await bench.call(tool, { sql: "SELECT 1" }))).toBe("no_database");
    expect(existsSync(join(bench.around.folder, "none.db"))).toBe(false);
  });

  test("of the workspace are read there, and no link leads out", async () => {
    const { bench, file } = await shop();
    const tool = (path: string) => bench.bind(bindSql, { path, in: "workspace" });
    const db = new DatabaseSync(bench.at("own.db"));
    db.exec("CREATE TABLE t (a); INSERT INTO t VALUES (7)");
    db.close();
    await symlink(file, bench.at("link.db"));
    expect(valueOf(await bench.call(tool("own.db"), { sql: "SELECT a FROM t" }))["rows"]).toEqual([[7]]);
    expect(codeOf(await bench.call(tool("link.db"), { sql: "SELECT 1" }))).toBe("denied");
    expect(codeOf(await bench.call(tool("../project/shop.db"), { sql: "SELECT 1" }))).toBe("denied");
  });

  test("that are no database are answered, not trusted", async () => {
    await using bench = await Bench.make();
    await writeFile(join(bench.around.folder, "text.db"), "this is not a database".repeat(100));
    const tool = bench.bind(bindSql, { path: "text.db" });
    expect(codeOf(await bench.call(tool, { sql: "SELECT * FROM sqlite_schema" }))).toBe("sql_error");
  });
});

describe("CSV files", () => {
  async function tables(files: Record<string, string>) {
    const bench = await Bench.make();
    onTestFinished(() => bench[Symbol.asyncDispose]());
    const csv: Record<string, string> = {};
    await mkdir(join(bench.around.folder, "data"));
    for (const [table, text] of Object.entries(files)) {
      csv[table] = `data/${table}.csv`;
      await writeFile(join(bench.around.folder, "data", `${table}.csv`), text);
    }
    const tool = bench.bind(bindSql, { csv });
    return { bench, rows: async (sql: string) => valueOf(await bench.call(tool, { sql }))["rows"] };
  }

  test("become tables with types, quotes and line ends as they are written", async () => {
    const { rows } = await tables({
      sales: '\u{FEFF}id,name,"zip, code",price,id\r\n1,"say ""hi""\nthere",01234,2.5,x\r\n\r\n2,,00001,3,y',
      cities: "name;people\nUlm;126000\nBonn;\n",
    });
    expect(await rows('SELECT *, typeof(price), typeof("zip, code") FROM sales')).toEqual([
      [1, 'say "hi"\nthere', "01234", 2.5, "x", "real", "text"],
      [2, null, "00001", 3, "y", "real", "text"],
    ]);
    expect(await rows("SELECT sum(people), count(*) FROM cities")).toEqual([[126_000, 2]]);
  });

  test("are read again when they changed, and written to by nobody", async () => {
    const { rows, bench } = await tables({ t: "a\n1\n" });
    expect(await rows("SELECT * FROM t")).toEqual([[1]]);
    await writeFile(join(bench.around.folder, "data", "t.csv"), "a\n1\n22\n");
    expect(await rows("SELECT count(*) FROM t")).toEqual([[2]]);
    const tool = bench.bind(bindSql, { csv: { t: "data/t.csv" } });
    expect(codeOf(await bench.call(tool, { sql: "DELETE FROM t" }))).toBe("read_only");
    expect(codeOf(await bench.call(tool, { sql: "ATTACH 'x.db' AS x" }))).toBe("read_only");
  });
});

test.each([
  [{}, "tools.t: a database is one of `path` (SQLite), `csv` (files by table) or `url_env` (PostgreSQL)"],
  [{ path: "a", url_env: "B" }, expect.stringContaining("tools.t: a database is one of")],
  [{ path: "a", op: "querry" }, "tools.t.op: `querry` is not known here (did you mean `query`?)"],
  [{ csv: { t: 1 } }, "tools.t.csv: `t` is the path of a CSV file, which is a text"],
])("options %j are a problem", async (options, problem) => {
  await using bench = await Bench.make();
  expect(problemsOf(bindSql, options, bench.around)).toEqual([problem]);
});
