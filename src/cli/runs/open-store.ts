// The store a command works on: `--store`, then PACKLOOP_STORE, then ./.packloop/runs.db.

import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { Fault, type Store } from "../../engine/ports.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { ExitError, exits, faultError, usageError } from "../exit.ts";

export interface OpenStoreOptions {
  readonly store: string | undefined;
  readonly readOnly: boolean;
  /** Makes the store when there is none; only for commands that make runs. */
  readonly create?: true;
}

export async function openStore({ store, readOnly, create }: OpenStoreOptions): Promise<Store> {
  const path = store ?? process.env["PACKLOOP_STORE"] ?? join(".packloop", "runs.db");
  if (/^postgres(ql)?:/.test(path)) throw usageError("PostgreSQL stores are not built into this version");
  if (create !== true && !existsSync(path))
    throw new ExitError(`there are no runs here (no store at \`${path}\`)`, exits.notFound);
  try {
    if (create === true) mkdirSync(dirname(path), { recursive: true });
    return await openSqliteStore(path, { readOnly });
  } catch (error) {
    throw storeError(error, path);
  }
}

/** A fault of the store as one line with the right exit code. */
function storeError(error: unknown, path: string): unknown {
  if (error instanceof Fault) return faultError(error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EACCES" || code === "EROFS" || code === "ENOSPC") {
    return new ExitError(`cannot write the store \`${path}\` (${code})`, exits.defect);
  }
  return error;
}
