// What is asked of a database and what comes back, the same for SQLite and PostgreSQL.

import type { Json, JsonObject } from "../../../base/json.ts";

export type SqlQuestion =
  | { readonly op: "query"; readonly sql: string; readonly params: readonly Json[] | JsonObject }
  | { readonly op: "describe"; readonly table: string }
  | { readonly op: "tables" };

export interface SqlLimits {
  readonly rows: number;
  readonly bytes: number;
  readonly ms: number;
}

export type SqlAnswer =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly passing?: boolean };

/** A database somebody bound; `passing` trouble comes as a `Fault`, everything else as a `ToolProblem`. */
export type AskDatabase = (
  question: SqlQuestion,
  context: { readonly run: string; readonly limits: SqlLimits; readonly signal: AbortSignal },
) => Promise<JsonObject>;

/** No more tables are listed; who has more asks for one by name. */
export const TABLES_MAX = 500;

/** For statements that change something, or could. */
export const WRITE_MESSAGE = "the database is opened for reading only (write a SELECT)";
