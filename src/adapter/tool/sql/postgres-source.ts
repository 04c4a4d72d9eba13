// Asks a PostgreSQL database one question in a transaction that only reads. The query becomes a cursor, which
// the server makes of nothing but a single reading statement, and of which only as many rows are fetched as
// are kept.

import type { Client, QueryArrayConfig, QueryArrayResult } from "pg";
import type { Json, JsonObject } from "../../../base/json.ts";
import { suggest } from "../../../base/suggest.ts";
import { Fault } from "../../../engine/ports.ts";
import { errorCode, ToolProblem } from "../tool-problem.ts";
import { RowWindow } from "./row-window.ts";
import {
  type AskDatabase,
  type SqlLimits,
  type SqlQuestion,
  TABLES_MAX,
  WRITE_MESSAGE,
} from "./sql-question.ts";

/** Rows brought over at a time: few, because nobody knows how long they are. */
const FETCH_ROWS = 100;

export function postgresSource(url: () => string): AskDatabase {
  return async (question, { limits, signal }) => {
    const connectionString = url();
    const { Client } = (await import("pg")).default;
    const client = new Client({
      connectionString,
      application_name: "packloop",
      options: "-c default_transaction_read_only=on",
      statement_timeout: limits.ms,
      idle_in_transaction_session_timeout: limits.ms,
      connectionTimeoutMillis: Math.min(limits.ms, 10_000),
      types: { getTypeParser: typeParser },
    });
    // Losing the connection is heard by the query that waits for it.
    client.on("error", () => {});
    try {
      return await withinTime(answer(client, question, limits), limits.ms, signal);
    } catch (error) {
      throw failure(error, signal);
    } finally {
      // Not awaited: a server that is busy would keep the caller waiting for its farewell.
      void client.end().catch(() => {});
    }
  };
}

/** The server ends a statement by itself; this is for a server that no longer answers. */
function withinTime<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(tooSlow(ms)), ms + 1000);
  const give = () => reject(signal.reason);
  signal.addEventListener("abort", give, { once: true });
  return Promise.race([work, promise]).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", give);
  });
}

const tooSlow = (ms: number): ToolProblem =>
  new ToolProblem("too_slow", `the query takes more than ${ms / 1000} s (select less, or aggregate)`);

async function answer(client: Client, question: SqlQuestion, limits: SqlLimits): Promise<JsonObject> {
  await client.connect();
  await client.query("BEGIN TRANSACTION READ ONLY");
  if (question.op === "tables")
    return {
      tables: (await columns(client)).map(({ table, kind, columns }) => ({
        name: table,
        kind,
        columns: columns.map(({ name, type }) => `${name} ${type}`),
      })),
    };
  if (question.op === "describe") return describe(client, question.table);
  const { sql, params } = question;
  if (!Array.isArray(params))
    throw new ToolProblem("bad_arguments", "`params` is a list here, for `$1`, `$2` and so on");
  const values = (params as readonly Json[]).map((value) =>
    typeof value === "object" && value !== null ? JSON.stringify(value) : value,
  );
  const isPlan = /^\s*(explain|show)\b/i.test(sql);
  const text = isPlan ? sql : `DECLARE packloop_rows NO SCROLL CURSOR FOR ${withoutEnd(sql)}`;
  // The extended protocol, because it takes one statement only.
  const asked: QueryArrayConfig & { queryMode: "extended" } = {
    text,
    values,
    rowMode: "array",
    queryMode: "extended",
  };
  const first = await client.query(asked);
  return fetched(client, isPlan ? first : undefined, limits);
}

/** A cursor is made of a query without its semicolon. */
function withoutEnd(sql: string): string {
  let text = sql.trimEnd();
  while (text.endsWith(";")) text = text.slice(0, -1).trimEnd();
  return text;
}

async function fetched(
  client: Client,
  plan: QueryArrayResult | undefined,
  limits: SqlLimits,
): Promise<JsonObject> {
  const window = new RowWindow(limits);
  const next = () => client.query({ text: `FETCH ${FETCH_ROWS} FROM packloop_rows`, rowMode: "array" });
  let names: readonly string[] = [];
  // At most `limits.rows / FETCH_ROWS` rounds and one, since the window fills.
  for (let more = true; more; ) {
    const { rows, fields } = plan ?? (await next());
    names = fields.map(({ name }) => name);
    more = plan === undefined && rows.length === FETCH_ROWS;
    for (const row of rows) {
      if (window.add(row as readonly unknown[])) continue;
      more = false;
      break;
    }
  }
  return window.result(names);
}

interface TableColumns {
  readonly table: string;
  readonly kind: string;
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly nullable: boolean;
    readonly key: boolean;
  }[];
}

const COLUMNS = `
  SELECT
    CASE WHEN n.nspname = current_schema() THEN c.relname ELSE n.nspname || '.' || c.relname END AS "table",
    CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'view' ELSE 'table' END AS kind,
    json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
      'nullable', NOT a.attnotnull, 'key', coalesce(a.attnum = ANY (i.indkey), false))
      ORDER BY a.attnum) AS columns
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND n.nspname NOT LIKE 'pg\\_%' AND NOT c.relispartition
    AND has_table_privilege(c.oid, 'SELECT')
  GROUP BY n.nspname, c.relname, c.relkind ORDER BY 1 LIMIT ${TABLES_MAX}`;

async function columns(client: Client): Promise<readonly TableColumns[]> {
  return (await client.query(COLUMNS)).rows as TableColumns[];
}

async function describe(client: Client, table: string): Promise<JsonObject> {
  const all = await columns(client);
  const found = all.find((one) => one.table === table || `public.${one.table}` === table);
  if (found !== undefined) {
    const described = found.columns.map(({ name, type, nullable, key }) => ({
      name,
      type,
      nullable,
      primary_key: key,
    }));
    return { table: found.table, columns: described };
  }
  const known = all.map((one) => one.table);
  const meant = suggest(table, known);
  const hint =
    meant === undefined
      ? `there are ${known.slice(0, 20).join(", ") || "none"}`
      : `did you mean \`${meant}\`?`;
  throw new ToolProblem("no_table", `there is no table \`${table}\` (${hint})`);
}

const INTEGERS = new Set([20, 21, 23, 26]);
const FLOATS = new Set([700, 701]);
const JSONS = new Set([114, 3802]);

/** Numbers, booleans and JSON as such; everything else, dates and decimals too, as the server writes it. */
function typeParser(oid: number): (text: string) => unknown {
  if (oid === 16) return (text) => text === "t";
  if (INTEGERS.has(oid)) return (text) => BigInt(text);
  if (FLOATS.has(oid)) return Number;
  return JSONS.has(oid) ? (text) => JSON.parse(text) as unknown : (text) => text;
}

/** SQLSTATE classes of trouble that passes: connections, resources, and a server that is stopping. */
const PASSING = /^(08|53|57P|40)/;

function failure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof ToolProblem || error instanceof Fault) return error;
  const state = errorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  if (state === "57014")
    return new ToolProblem("too_slow", "the query takes too long (select less, or aggregate)");
  // 25006: a write; 42601 with these words, 0A000 and 34000: not something a cursor is made of.
  if (state === "25006") return new ToolProblem("read_only", WRITE_MESSAGE);
  if (state === "28P01" || state === "28000" || state === "3D000")
    return new ToolProblem(
      "no_database",
      "the database does not let this tool in (check the URL in the environment)",
    );
  if (state === undefined || PASSING.test(state) || !/^[0-9A-Z]{5}$/.test(state)) {
    const shown = `the database cannot be reached (${state ?? message})`;
    return new Fault("database_unreachable", shown, { retry: "later", cause: error });
  }
  return new ToolProblem("sql_error", message);
}
