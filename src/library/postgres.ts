// `packloop/store/postgres`.

import type { Store } from "../engine/ports.ts";
import { openPostgresStore } from "../store/postgres/postgres-store.ts";

/** Opens the store in a database, making its tables when it has none; for `createEngine`, which closes it. */
export function postgresStore(url: string): Promise<Store> {
  return openPostgresStore(url);
}
