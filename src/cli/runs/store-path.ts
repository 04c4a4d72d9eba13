// Where a store may be: an ordinary file on a disk. Anything else that has a path is refused before it is
// opened, because opening a pipe or a device can wait for ever.

import { lstatSync, mkdirSync, type Stats, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { ExitError, exits, usageError } from "../exit.ts";

/** File systems that show the kernel, by their magic numbers: /proc and /sys. */
const KERNEL: ReadonlySet<number> = new Set([0x9fa0, 0x62656572]);

/** The path as SQLite takes it; a usage error when no store can be there. */
export function storePath(given: string): string {
  if (given === "") throw usageError("the path of the store is empty (give --store a file)");
  if (/[/\\]$/.test(given)) throw usageError(`\`${given}\` is a folder (name a file in it)`);
  const found = statOf(given);
  if (found?.isDirectory() === true) throw usageError(`\`${given}\` is a folder (name a file in it)`);
  if (found !== undefined && !found.isFile())
    throw usageError(`\`${given}\` is not an ordinary file (keep the store on a disk)`);
  const folder = nearestFolder(given);
  if (found === undefined && lstatSync(given, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw usageError(`\`${given}\` is a link that leads nowhere (remove it, or give --store another path)`);
  if (KERNEL.has(statfsSync(folder).type))
    throw usageError(`\`${given}\` is in a file system of the kernel (keep the store on a disk)`);
  // SQLite has meanings of its own for these.
  return given === ":memory:" || given.startsWith("file:") ? `./${given}` : given;
}

/** Makes the folders above the store, one by one: making them in one call never returns on some systems. */
export function makeFolders(path: string): void {
  const missing: string[] = [];
  for (let at = dirname(path); statOf(at) === undefined && at !== dirname(at); at = dirname(at))
    missing.push(at);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Somebody else made it in the meantime.
      if (code === "EEXIST") continue;
      throw new ExitError(`cannot make the folder \`${folder}\` (${code ?? "unknown reason"})`, exits.defect);
    }
  }
}

/** The folder the store is in, or the nearest one above that is there. */
export function nearestFolder(path: string): string {
  let at = dirname(path);
  while (statOf(at) === undefined && at !== dirname(at)) at = dirname(at);
  if (statOf(at)?.isDirectory() === true) return at;
  throw usageError(`\`${at}\` is not a folder, so \`${path}\` cannot be in it (give --store another path)`);
}

/** Undefined when there is nothing. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new ExitError(`cannot look at \`${path}\` (${code ?? "unknown reason"})`, exits.defect);
  }
}
