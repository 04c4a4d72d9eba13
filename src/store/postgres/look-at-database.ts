// A look at the database of a store, without changing anything in it: for whoever asks why it does not work.

import { readAddress } from "./address.ts";
import { Connections, type Query } from "./connections.ts";
import { versionOf } from "./migrate.ts";
import { codeOf } from "./postgres-fault.ts";
import { SCHEMA_VERSION } from "./schema.ts";

export interface DatabaseLook {
  /** Host and database, without user and password. */
  readonly place: string;
  readonly schema: string;
  /** Of PostgreSQL, such as `17.2`. */
  readonly version: string;
  readonly major: number;
  readonly role: string;
  /** Of the tables; 0 when there are none. */
  readonly tables: number;
  readonly tablesWanted: number;
  /** Rights the role lacks to drive runs, such as `INSERT on turn`. */
  readonly missing: readonly string[];
  readonly isReplica: boolean;
  /** The role or the database is set to be read only. */
  readonly isFrozen: boolean;
  /** Whether the server waits for its disk at all. */
  readonly syncs: boolean;
  /** A commit that waits for the disk, with the way there and back; undefined where none can be made. */
  readonly commitMs: number | undefined;
  /** How far its clock is ahead of ours. */
  readonly aheadMs: number;
}

export async function lookAtDatabase(url: string): Promise<DatabaseLook> {
  const address = readAddress(url);
  const { schema } = address;
  await using connections = await Connections.open({
    ...{ address, connections: 1, outageMs: 0, answerMs: ANSWER_MS },
  });
  return await connections.once(async (query) => {
    const about = await aboutServer(query);
    const tables = await versionOf(query, schema);
    const missing = await missingRights(query, schema, tables);
    return {
      ...{ place: connections.place, schema, tables, missing, tablesWanted: SCHEMA_VERSION },
      ...about,
      commitMs: about.isReplica || about.isFrozen ? undefined : await commitMs(query),
    };
  });
}

interface AboutRow {
  readonly version: string;
  readonly number: string;
  readonly role: string;
  readonly replica: boolean;
  readonly frozen: boolean;
  readonly fsync: string;
  readonly now: number;
}

type About = Pick<
  DatabaseLook,
  "version" | "major" | "role" | "isReplica" | "isFrozen" | "syncs" | "aheadMs"
>;

async function aboutServer(query: Query): Promise<About> {
  const before = Date.now();
  const { rows } = await query.query<AboutRow>(`SELECT
    current_setting('server_version') AS version, current_setting('server_version_num') AS number,
    current_user AS role, pg_is_in_recovery() AS replica, current_setting('fsync') AS fsync,
    current_setting('default_transaction_read_only')::boolean AS frozen,
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`);
  const after = Date.now();
  const [row] = rows as [AboutRow];
  return {
    version: row.version.split(" ", 1)[0] ?? row.version,
    major: Math.floor(Number(row.number) / 10_000),
    role: row.role,
    isReplica: row.replica,
    isFrozen: row.frozen,
    syncs: row.fsync === "on",
    // Somewhere between the two; the middle is wrong by half the way at most.
    aheadMs: row.now - (before + after) / 2,
  };
}

/** What driving runs and removing them takes, by table; `meta` is only written by who makes the tables. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  meta: ["SELECT"],
  program: ["SELECT", "INSERT", "UPDATE", "DELETE"],
  run: ["SELECT", "INSERT", "DELETE"],
  run_program: ["SELECT", "INSERT", "DELETE"],
  turn: ["SELECT", "INSERT", "DELETE"],
  head: ["SELECT", "INSERT", "UPDATE", "DELETE"],
  snapshot: ["SELECT", "INSERT", "DELETE"],
  worker: ["SELECT", "INSERT", "UPDATE", "DELETE"],
};

async function missingRights(query: Query, schema: string, tables: number): Promise<readonly string[]> {
  const has = async (sql: string, values: readonly string[]): Promise<boolean> => {
    const { rows } = await query.query<{ has: boolean | null }>(`SELECT ${sql} AS has`, [...values]);
    return rows[0]?.has === true;
  };
  const isThere = await has("EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", [schema]);
  if (!isThere) {
    const mayCreate = await has("has_database_privilege(current_database(), 'CREATE')", []);
    return mayCreate ? [] : ["CREATE on the database"];
  }
  const missing: string[] = [];
  const wanted = tables < SCHEMA_VERSION ? ["USAGE", "CREATE"] : ["USAGE"];
  for (const right of wanted)
    if (!(await has("has_schema_privilege($1, $2)", [schema, right])))
      missing.push(`${right} on schema ${schema}`);
  if (tables === 0) return missing;
  for (const [table, rights] of Object.entries(NEEDED))
    for (const right of rights)
      if (!(await has("has_table_privilege(to_regclass($1), $2)", [`${schema}.${table}`, right])))
        missing.push(`${right} on ${table}`);
  return missing;
}

const ANSWER_MS = 30_000;
const ROUNDS = 5;

/** A message in the server's log of writes and nowhere else; its commit waits for the disk like any other. */
async function commitMs(query: Query): Promise<number | undefined> {
  const times: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const began = performance.now();
      await query.query("SELECT pg_logical_emit_message(true, 'packloop', 'doctor')");
      times.push(performance.now() - began);
    }
  } catch (error) {
    // Everybody has this right unless it was taken away; runs do not need it.
    if (codeOf(error) === "42501") return undefined;
    throw error;
  }
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)];
}
