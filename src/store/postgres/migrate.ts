// Brings a database to the present version of the tables: once, whoever comes first, however many come at the
// same moment.

import { Fault } from "../../engine/ports.ts";
import type { Connections, Query } from "./connections.ts";
import { MIGRATION_LOCK, MIGRATIONS, SCHEMA_VERSION } from "./schema.ts";

export async function migrate(connections: Connections, schema: string): Promise<void> {
  await connections.once(async (query) => {
    await refuseReader(query, connections.place);
    if ((await versionOf(query, schema)) === SCHEMA_VERSION) return;
    await query.query("BEGIN");
    try {
      await query.query(patient("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]));
      // Somebody else may have done it while we waited.
      const version = await versionOf(query, schema);
      // One that was made for us already needs no right to make more of them.
      const { rows } = await query.query<{ is: boolean }>("SELECT to_regnamespace($1) IS NULL AS is", [
        schema,
      ]);
      if (rows[0]?.is === true) await query.query(`CREATE SCHEMA ${schema}`);
      if (version === 0) await query.query("CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL)");
      for (const text of MIGRATIONS.slice(version)) await query.query(patient(text));
      await query.query(
        `INSERT INTO meta VALUES ('version', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
        [String(SCHEMA_VERSION)],
      );
      await query.query("COMMIT");
    } catch (error) {
      await query.query("ROLLBACK").catch(() => undefined);
      throw error;
    }
  });
}

/** Large tables take their time, and who waits for somebody who changes them waits as long. */
const patient = (text: string, values: readonly unknown[] = []) => ({
  ...{ text, query_timeout: 86_400_000 },
  ...(values.length > 0 && { values: [...values] }),
});

/** There are tables; for those who only read, of the present version. */
export async function checkVersion(
  connections: Connections,
  { schema, readOnly }: { readonly schema: string; readonly readOnly: boolean },
): Promise<void> {
  const version = await connections.once((query) => versionOf(query, schema));
  if (version === SCHEMA_VERSION || (version > 0 && !readOnly)) return;
  const message =
    version === 0
      ? `there are no runs in ${connections.place} (its first run makes the tables)`
      : `the tables in ${connections.place} are of version ${version}, and this packloop reads ${SCHEMA_VERSION} (the next command that writes brings them up)`;
  throw new Fault(version === 0 ? "store-empty" : "store-older", message, { retry: "never" });
}

/**
 * 0 without tables. Looked up in the catalogue itself: functions like `to_regclass` may remember, for the
 * length of a transaction, that there was nothing.
 */
export async function versionOf(query: Query, schema: string): Promise<number> {
  const { rowCount } = await query.query(
    "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'meta'",
    [schema],
  );
  if (rowCount === 0) return 0;
  // By its full name: without a right to the schema the path would pass it over in silence.
  const { rows } = await query.query<{ value: string }>(
    `SELECT value FROM ${schema}.meta WHERE name = 'version'`,
  );
  const version = Number(rows[0]?.value ?? 0);
  if (version <= SCHEMA_VERSION) return version;
  const message = `the tables were made by a newer packloop (version ${version}, this one knows ${SCHEMA_VERSION}): update packloop`;
  throw new Fault("store-newer", message, { retry: "never" });
}

async function refuseReader(query: Query, place: string): Promise<void> {
  const { rows } = await query.query<{ replica: boolean; frozen: boolean }>(
    "SELECT pg_is_in_recovery() AS replica, current_setting('transaction_read_only')::boolean AS frozen",
  );
  const { replica, frozen } = rows[0] ?? { replica: false, frozen: false };
  if (!replica && !frozen) return;
  const message = replica
    ? `${place} can only be read, as a replica does (name the primary server)`
    : `${place} can only be read: \`default_transaction_read_only\` is on (turn it off for this role or database)`;
  throw new Fault("store-unavailable", message, { retry: "never" });
}
