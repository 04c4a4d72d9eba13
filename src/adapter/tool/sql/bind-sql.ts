// The built-in tool `sql`: asks a database, for reading only. The id of a query names it by its text and
// parameters, so that a report can point at where a number came from.

import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import { canonical, isObject, type Json, type JsonObject } from "../../../base/json.ts";
import type { CallContext } from "../../../engine/ports.ts";
import type { BoundTool, Surroundings } from "../bound-tool.ts";
import { argumentReader, type CallArguments } from "../call-arguments.ts";
import type { OptionReader } from "../option-reader.ts";
import { answerOf, errorCode, ToolProblem } from "../tool-problem.ts";
import { postgresSource } from "./postgres-source.ts";
import type { AskDatabase, SqlLimits, SqlQuestion } from "./sql-question.ts";
import { SqlitePool } from "./sqlite-pool.ts";

const OPERATIONS = ["query", "describe", "tables"] as const;
type Operation = (typeof OPERATIONS)[number];

const SPELLINGS = {
  sql: ["query", "statement", "q"],
  params: ["parameters", "args", "values", "bindings"],
  table: ["name", "table_name"],
};

export function bindSql(reader: OptionReader, around: Surroundings): BoundTool {
  const argumentsOf = argumentReader(reader, SPELLINGS);
  const op = reader.oneOf("op", OPERATIONS) ?? "query";
  const ask = readSource(reader, around);
  const limits: SqlLimits = {
    rows: reader.number("max_rows", { least: 1, most: 10_000 }) ?? 1000,
    bytes: reader.number("max_bytes", { least: 1000, most: 5_000_000 }) ?? 256 * 1024,
    ms: (reader.number("timeout_sec", { least: 0.1, most: 600 }) ?? 30) * 1000,
  };
  return {
    tier: "read",
    safe: true,
    definition: DEFINITIONS[op],
    call: (args, context) =>
      answerOf(async () => {
        const question = questionOf(op, argumentsOf(args));
        return { ...idOf(question), ...(await ask(question, contextOf(context, limits))) };
      }),
  };
}

const contextOf = ({ run, signal }: CallContext, limits: SqlLimits) => ({ run, signal, limits });

const text = (description: string): JsonObject => ({ type: "string", description });

const DEFINITIONS: Readonly<Record<Operation, { description: string; parameters: JsonObject }>> = {
  query: {
    description: "Runs one SQL query that reads, and returns its columns and rows with an id to refer to.",
    parameters: {
      type: "object",
      properties: {
        sql: text("one SELECT"),
        params: { type: "array", description: "values of placeholders" },
      },
      required: ["sql"],
    },
  },
  describe: {
    description: "Returns the columns of a table with their types and keys.",
    parameters: { type: "object", properties: { table: text("the table's name") }, required: ["table"] },
  },
  tables: {
    description: "Lists the tables of the database with their columns.",
    parameters: { type: "object", properties: {} },
  },
};

function questionOf(op: Operation, args: CallArguments): SqlQuestion {
  if (op === "tables") return { op };
  if (op === "describe") return { op, table: args.neededText("table") };
  const params = args.any("params") ?? [];
  if (!Array.isArray(params) && !isObject(params)) {
    throw new ToolProblem("bad_arguments", "`params` is a list of values, or a mapping for named ones");
  }
  return { op, sql: args.neededText("sql"), params: params as readonly Json[] | JsonObject };
}

function idOf(question: SqlQuestion): JsonObject {
  if (question.op !== "query") return {};
  const named = canonical([question.sql.trim(), question.params]);
  return { query_id: `q_${createHash("sha256").update(named).digest("hex").slice(0, 12)}` };
}

/** Exactly one of `path`, `csv` and `url_env`. */
function readSource(reader: OptionReader, around: Surroundings): AskDatabase {
  const path = reader.text("path");
  const csv = reader.object("csv");
  const variable = reader.text("url_env");
  const inWorkspace = reader.oneOf("in", ["project", "workspace"]) === "workspace";
  if ([path, csv, variable].filter((one) => one !== undefined).length !== 1)
    reader.wrongWhole(
      "a database is one of `path` (SQLite), `csv` (files by table) or `url_env` (PostgreSQL)",
    );
  if (variable !== undefined) return postgresSource(() => urlOf(variable, around));
  const files = fileOptions(reader, csv);
  const pool = new SqlitePool();
  const place = (file: string, run: string) =>
    inWorkspace ? insideOf(file, run, around) : fileOf(file, around);
  return async (question, { run, limits, signal }) => {
    const found = await Promise.all(
      files.map(async ([table, file]) => [table, await place(file, run)] as const),
    );
    const source = path === undefined ? { csv: Object.fromEntries(found) } : { path: await place(path, run) };
    return pool.ask({ source, question, limits }, signal);
  };
}

function fileOptions(
  reader: OptionReader,
  csv: JsonObject | undefined,
): readonly (readonly [string, string])[] {
  const files: [string, string][] = [];
  for (const [table, file] of Object.entries(csv ?? {})) {
    if (typeof file === "string") files.push([table, file]);
    else reader.wrong("csv", `\`${table}\` is the path of a CSV file, which is a text`);
  }
  return files;
}

function urlOf(variable: string, around: Surroundings): string {
  const url = around.env(variable)?.trim();
  if (url === undefined || url === "")
    throw new ToolProblem(
      "not_configured",
      `the variable \`${variable}\` with the database's URL is not set`,
    );
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new ToolProblem("not_configured", `the variable \`${variable}\` is not a \`postgres://\` URL`);
  return url;
}

/** Written by whoever configures the tool, so every place is allowed. */
const fileOf = async (file: string, around: Surroundings): Promise<string> => resolve(around.folder, file);

/** What lies in a workspace may have been put there by a tool: no link leads out of it. */
async function insideOf(file: string, run: string, around: Surroundings): Promise<string> {
  const workspace = await realpath(await around.workspaceOf(run));
  const found = await existing(resolve(workspace, file));
  const inside = relative(workspace, found);
  if (inside.startsWith("..") || isAbsolute(inside))
    throw new ToolProblem("denied", `\`${file}\` leads out of the workspace`);
  return found;
}

async function existing(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    throw new ToolProblem("no_database", "the database cannot be opened (does the file exist?)", {
      cause: error,
    });
  }
}
