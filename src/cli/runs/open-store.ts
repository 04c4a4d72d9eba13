// The store a command works on: `--store`, then PACKLOOP_STORE, then ./.packloop/runs.db.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { Fault, type Store } from "../../engine/ports.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { ExitError, exits, faultError, usageError } from "../exit.ts";
import { announcedServer } from "./store-owner.ts";
import { makeFolders, storePath } from "./store-path.ts";

export interface OpenStoreOptions {
  readonly store: string | undefined;
  readonly readOnly: boolean;
  /** Makes the store when there is none; only for commands that make runs. */
  readonly create?: true;
}

export async function openStore({ store, readOnly, create }: OpenStoreOptions): Promise<Store> {
  const path = chosenStore(store);
  if (isDatabase(path)) return openDatabase(path, { readOnly, existing: create !== true });
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

/** A store that any number of processes share, instead of a file that one of them has. */
export const isDatabase = (store: string): boolean => /^postgres(ql)?:/i.test(store);

async function openDatabase(
  url: string,
  options: { readonly readOnly: boolean; readonly existing: boolean },
): Promise<Store> {
  const { openPostgresStore } = await import("../../store/postgres/postgres-store.ts");
  try {
    return await openPostgresStore(url, options);
  } catch (error) {
    if (error instanceof Fault && error.code === "store-empty")
      throw new ExitError(error.message, exits.notFound);
    throw error instanceof Fault ? faultError(error) : error;
  }
}

/** What runs keep on this machine beside the store: their workspaces and files. */
export function localStorePath(given: string | undefined): string {
  const store = chosenStore(given);
  return isDatabase(store) ? FILE : store;
}

const FILE = join(".packloop", "runs.db");

/** The path or address of the store that `--store`, or its absence, means. */
export function chosenStore(given: string | undefined): string {
  const store = given ?? process.env["PACKLOOP_STORE"] ?? FILE;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(store)?.[1];
  // Taken for a path it would become folders that are called like the user and the password.
  if (scheme !== undefined && !isDatabase(store))
    throw usageError(`\`${scheme}://\` is no store (a path, or postgres://USER@HOST/DATABASE)`);
  return store;
}

/** The same for people to read: an address without its password. */
export function shownStore(given: string | undefined): string {
  const store = chosenStore(given);
  if (!isDatabase(store) || !URL.canParse(store)) return store;
  const { protocol, host, pathname } = new URL(store);
  return `${protocol}//${host}${pathname}`;
}

/** Commands that a server can do go through it; who comes here cannot. */
function besideServer(fault: Fault, path: string): Fault {
  const url = fault.code === "store-locked" ? announcedServer(path) : undefined;
  if (url === undefined) return fault;
  const message = `the store \`${path}\` is held by the server at ${url}, and this command needs it for itself (stop the server first)`;
  return new Fault(fault.code, message, { retry: fault.retry, cause: fault });
}

/** A fault of the store as one line with the right exit code. */
function storeError(error: unknown, path: string): unknown {
  if (error instanceof Fault) return faultError(besideServer(error, path));
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EACCES" || code === "EROFS" || code === "ENOSPC") {
    return new ExitError(`cannot write the store \`${path}\` (${code})`, exits.defect);
  }
  return error;
}
