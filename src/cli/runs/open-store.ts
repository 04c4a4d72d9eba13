// The store a command works on: `--store`, then PACKLOOP_STORE, then ./.packloop/runs.db.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { Fault, type Store } from "../../engine/ports.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { ExitError, exits, faultError, usageError } from "../exit.ts";
import { makeFolders, storePath } from "./store-path.ts";

export interface OpenStoreOptions {
  readonly store: string | undefined;
  readonly readOnly: boolean;
  /** Makes the store when there is none; only for commands that make runs. */
  readonly create?: true;
}

export async function openStore({ store, readOnly, create }: OpenStoreOptions): Promise<Store> {
  const path = chosenStore(store);
  if (/^postgres(ql)?:/.test(path)) throw usageError("PostgreSQL stores are not built into this version");
  const file = storePath(path);
  if (create !== true && !existsSync(file))
    throw new ExitError(`there are no runs here (no store at \`${path}\`)`, exits.notFound);
  try {
    if (create === true) makeFolders(file);
    return await openSqliteStore(file, { readOnly });
  } catch (error) {
    throw storeError(error, path);
  }
}

/** The path or address of the store that `--store`, or its absence, means. */
export const chosenStore = (given: string | undefined): string =>
  given ?? process.env["PACKLOOP_STORE"] ?? join(".packloop", "runs.db");

/** A fault of the store as one line with the right exit code. */
function storeError(error: unknown, path: string): unknown {
  if (error instanceof Fault) return faultError(error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EACCES" || code === "EROFS" || code === "ENOSPC") {
    return new ExitError(`cannot write the store \`${path}\` (${code})`, exits.defect);
  }
  return error;
}
