// Asks an SQLite database one question, for reading only. Three locks, each enough by itself: the file is
// opened read-only, an authorizer permits nothing but reading, and only statements with columns are run.

import { readFileSync, statSync } from "node:fs";
import { constants, DatabaseSync, type StatementSync } from "node:sqlite";
import type { Json, JsonObject } from "../../../base/json.ts";
import { suggest } from "../../../base/suggest.ts";
import { loadCsv } from "./csv-table.ts";
import { RowWindow } from "./row-window.ts";
import {
  type SqlAnswer,
  type SqlLimits,
  type SqlQuestion,
  TABLES_MAX,
  WRITE_MESSAGE,
} from "./sql-question.ts";

/** A file, or CSV files by the table each becomes. */
export type SqliteSource = { readonly path: string } | { readonly csv: Readonly<Record<string, string>> };

export interface SqliteRequest {
  readonly source: SqliteSource;
  readonly question: SqlQuestion;
  readonly limits: SqlLimits;
}

/** Of one value, and so of what a function can make of others. */
const VALUE_BYTES_MAX = 20_000_000;
const LIMITS = { attach: 0, length: VALUE_BYTES_MAX };
const CSV_BYTES_MAX = 100 * 1024 * 1024;
const BUSY_MS = 2000;

export class SqliteReader {
  /** Tables from CSV files, kept while the files stay as they are. */
  #loaded: { readonly mark: string; readonly db: DatabaseSync } | undefined;

  ask({ source, question, limits }: SqliteRequest): SqlAnswer {
    try {
      if ("csv" in source) return { ok: true, value: answer(this.#csv(source.csv), question, limits) };
      using db = opened(source.path);
      return { ok: true, value: answer(db, question, limits) };
    } catch (error) {
      return failure(error);
    }
  }

  #csv(files: Readonly<Record<string, string>>): DatabaseSync {
    const sizes = Object.values(files).map((path) => statSync(path));
    const bytes = sizes.reduce((sum, { size }) => sum + size, 0);
    if (bytes > CSV_BYTES_MAX)
      throw new SqlProblem("too_large", `the CSV files have more than ${CSV_BYTES_MAX} bytes`);
    const mark = JSON.stringify([files, sizes.map(({ size, mtimeMs }) => [size, mtimeMs])]);
    if (this.#loaded?.mark === mark) return this.#loaded.db;
    this.#loaded?.db.close();
    const db = new DatabaseSync(":memory:", { allowExtension: false, limits: LIMITS });
    for (const [table, path] of Object.entries(files))
      loadCsv(db, { table, text: readFileSync(path, "utf8") });
    guard(db);
    this.#loaded = { mark, db };
    return db;
  }
}

class SqlProblem extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

function opened(path: string): DatabaseSync {
  const db = new DatabaseSync(path, {
    readOnly: true,
    allowExtension: false,
    defensive: true,
    timeout: BUSY_MS,
    limits: LIMITS,
  });
  guard(db);
  return db;
}

const PRAGMAS = new Set([
  "table_info",
  "table_xinfo",
  "table_list",
  "index_list",
  "index_info",
  "foreign_key_list",
]);
const FUNCTIONS = new Set(["load_extension", "fts3_tokenizer"]);

function guard(db: DatabaseSync): void {
  db.exec("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF");
  db.setAuthorizer((action, first, second) => {
    const isRead =
      action === constants.SQLITE_SELECT ||
      action === constants.SQLITE_READ ||
      action === constants.SQLITE_RECURSIVE ||
      (action === constants.SQLITE_FUNCTION && !FUNCTIONS.has(second?.toLowerCase() ?? "")) ||
      (action === constants.SQLITE_PRAGMA && PRAGMAS.has(first?.toLowerCase() ?? ""));
    return isRead ? constants.SQLITE_OK : constants.SQLITE_DENY;
  });
}

function answer(db: DatabaseSync, question: SqlQuestion, limits: SqlLimits): JsonObject {
  if (question.op === "tables") return { tables: tables(db) };
  if (question.op === "describe") return describe(db, question.table);
  const statement = prepared(db, question.sql);
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  const window = new RowWindow(limits);
  const { params } = question;
  const rows = Array.isArray(params)
    ? statement.iterate(...(params as readonly Json[]).map(bound))
    : statement.iterate(
        Object.fromEntries(Object.entries(params).map(([name, value]) => [name, bound(value)])),
      );
  for (const row of rows) if (!window.add(row as unknown as readonly unknown[])) break;
  return window.result(statement.columns().map(({ name }) => name));
}

/** Nothing but white space, comments and semicolons. */
const NOTHING = /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*$/;

function prepared(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  // The library compiles the first statement and forgets the rest; who wrote it would not hear of that.
  if (!NOTHING.test(sql.slice(statement.sourceSQL.length)))
    throw new SqlProblem("sql_error", "there is more than one statement (send one at a time)");
  if (statement.columns().length === 0) throw new SqlProblem("read_only", WRITE_MESSAGE);
  return statement;
}

function bound(value: Json): string | number | null {
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  return typeof value === "boolean" ? Number(value) : JSON.stringify(value);
}

const TABLES = `SELECT name, type FROM pragma_table_list
  WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND type IN ('table', 'view', 'virtual')
  ORDER BY name LIMIT ${TABLES_MAX}`;
const COLUMNS = 'SELECT name, type, "notnull" AS needed, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1';
const REFERENCES = 'SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)';

function tables(db: DatabaseSync): Json[] {
  const columns = db.prepare(COLUMNS);
  return db
    .prepare(TABLES)
    .all()
    .map(({ name, type }) => ({
      name: String(name),
      kind: String(type),
      columns: columns.all(String(name)).map((column) => `${column["name"]} ${column["type"]}`.trim()),
    }));
}

function describe(db: DatabaseSync, table: string): JsonObject {
  const columns = db.prepare(COLUMNS).all(table);
  if (columns.length === 0) {
    const known = db
      .prepare(TABLES)
      .all()
      .map(({ name }) => String(name));
    const meant = suggest(table, known);
    const hint =
      meant === undefined ? `there are ${known.join(", ") || "none"}` : `did you mean \`${meant}\`?`;
    throw new SqlProblem("no_table", `there is no table \`${table}\` (${hint})`);
  }
  return {
    table,
    columns: columns.map(({ name, type, needed, pk }) => ({
      name: String(name),
      type: String(type),
      nullable: needed === 0 && pk === 0,
      primary_key: pk !== 0,
    })),
    references: db
      .prepare(REFERENCES)
      .all(table)
      .map((one) => ({
        column: String(one["from"]),
        table: String(one["table"]),
        to: one["to"] === null ? null : String(one["to"]),
      })),
  };
}

/** Primary result codes of SQLite. */
const BUSY = new Set([5, 6]);
const AUTH = new Set([8, 23]);

function failure(error: unknown): SqlAnswer {
  if (error instanceof SqlProblem) return { ok: false, code: error.code, message: error.message };
  const { message, errcode, code } = error as Error & { errcode?: number; code?: string };
  const primary = (errcode ?? 0) & 0xff;
  if (BUSY.has(primary))
    return { ok: false, code: "database_busy", message: "the database is locked", passing: true };
  if (AUTH.has(primary)) return { ok: false, code: "read_only", message: WRITE_MESSAGE };
  if (primary === 14 || code === "ENOENT")
    return {
      ok: false,
      code: "no_database",
      message: "the database cannot be opened (does the file exist?)",
    };
  return { ok: false, code: "sql_error", message };
}
