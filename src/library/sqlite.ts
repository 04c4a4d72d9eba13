// The public module `packloop/store/sqlite`.

import type { Store } from "../engine/ports.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";

/** Runs in one file. One process may write to it; a second one gets a clear refusal. */
export function sqliteStore(path: string, options: { readonly readOnly?: boolean } = {}): Promise<Store> {
  return openSqliteStore(path, { readOnly: options.readOnly === true });
}
