// Who holds a store, as the text beside its lock says: for messages, and to find the server that does.

import { existsSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";

/** Adds where the server listens to the text that says who holds the store. */
export function announceServer(path: string, url: string): void {
  const file = ownerFile(path);
  const owner = readOwner(file);
  if (owner === undefined) return;
  const next = `${file}.next`;
  writeFileSync(next, JSON.stringify({ ...owner, address: url }));
  renameSync(next, file);
}

/** Where the server listened that opened the store last on this machine and did not let go of it itself. */
export function announcedServer(path: string): string | undefined {
  const owner = readOwner(ownerFile(path));
  const url = owner?.["address"];
  return typeof url === "string" && owner?.["host"] === hostname() ? url : undefined;
}

const ownerFile = (path: string): string => `${existsSync(path) ? realpathSync(path) : path}-owner`;

function readOwner(file: string): JsonObject | undefined {
  try {
    const value = JSON.parse(readFileSync(file, "utf8")) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    // Nobody holds the store, or is just letting go.
    return undefined;
  }
}
