// A store in PostgreSQL: whether it is reached, which tables are there, what the role may do, how fast a
// commit is, and whether its clock and ours agree.

import { Fault } from "../../engine/ports.ts";
import { type DatabaseLook, lookAtDatabase } from "../../store/postgres/look-at-database.ts";
import { ExitError } from "../exit.ts";
import { openStore } from "../runs/open-store.ts";
import { type Checked, fail, msText, ok, warn } from "./checked.ts";
import { clockCheck } from "./store-checks.ts";

export async function* databaseChecks(url: string): AsyncGenerator<Checked> {
  let look: DatabaseLook;
  try {
    look = await lookAtDatabase(url);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const remedy = "see to the address in --store or PACKLOOP_STORE, to the server, and to the role's rights";
    return yield fail("store", { found: error.message, remedy });
  }
  yield connectionCheck(look);
  yield rightsCheck(look);
  yield tablesCheck(look);
  yield commitCheck(look);
  yield serverClockCheck(look);
  if (look.tables === look.tablesWanted && look.missing.length === 0) yield* journalClock(url);
}

/** Its makers maintain no older one. */
const OLDEST = 14;

function connectionCheck({ place, version, major, role, isReplica, isFrozen }: DatabaseLook): Checked {
  const found = `PostgreSQL ${version} at ${place}, as \`${role}\``;
  if (isReplica)
    return fail("store", {
      found: `${found}: a replica, which can only be read`,
      remedy: "name the primary",
    });
  if (isFrozen)
    return fail("store", {
      found: `${found}: \`default_transaction_read_only\` is on, so it can only be read`,
      remedy: "turn it off for this role or database",
    });
  if (major < OLDEST)
    return warn("store", { found, remedy: `update PostgreSQL to ${OLDEST} or newer, which are maintained` });
  return ok("store", found);
}

function rightsCheck({ missing, role, schema }: DatabaseLook): Checked {
  if (missing.length === 0) return ok("rights", `\`${role}\` may do what runs need`);
  const found = `\`${role}\` lacks ${missing.length} ${missing.length === 1 ? "right" : "rights"}`;
  const remedy = `have the owner grant them, or make the schema theirs (ALTER SCHEMA ${schema} OWNER TO …)`;
  return fail("rights", { found, details: missing, remedy });
}

function tablesCheck({ tables, tablesWanted, schema }: DatabaseLook): Checked {
  if (tables === tablesWanted) return ok("tables", `version ${tables} in schema \`${schema}\``);
  if (tables === 0) return ok("tables", `none yet in schema \`${schema}\` (the first run makes them)`);
  const found = `version ${tables} in schema \`${schema}\`, and this packloop reads ${tablesWanted}`;
  return warn("tables", {
    found,
    remedy: "the next command that writes brings them up, such as packloop worker",
  });
}

const SLOW_MS = 100;

function commitCheck({ commitMs, syncs }: DatabaseLook): Checked {
  if (!syncs) {
    const found = "the server has `fsync` off: a crash of its machine may take the whole database";
    return warn("sync", { found, remedy: "set fsync = on in postgresql.conf" });
  }
  if (commitMs === undefined) return ok("sync", "not measured: the role may not make an empty commit");
  const found = `${msText(commitMs)} for each commit, there and back`;
  if (commitMs <= SLOW_MS) return ok("sync", found);
  return warn("sync", { found: `${found}, which is slow`, remedy: "work nearer to the database" });
}

const APART_MS = 2_000;

function serverClockCheck({ aheadMs }: DatabaseLook): Checked {
  const apart = `${msText(Math.abs(aheadMs))} ${aheadMs < 0 ? "behind" : "ahead"}`;
  if (Math.abs(aheadMs) <= APART_MS) return ok("server-clock", `the database's clock is ${apart}`);
  const remedy = "set the clocks of both machines (by NTP)";
  return warn("server-clock", { found: `the database's clock is ${apart}`, remedy });
}

async function* journalClock(url: string): AsyncGenerator<Checked> {
  try {
    await using store = await openStore({ store: url, readOnly: true });
    yield await clockCheck(store);
  } catch (error) {
    if (!(error instanceof ExitError || error instanceof Fault)) throw error;
    yield fail("clock", { found: error.message, remedy: "see packloop verify --all" });
  }
}
