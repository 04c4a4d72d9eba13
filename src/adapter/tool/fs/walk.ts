// Everything below a folder, in the order of names, without following links.

import type { Dirent } from "node:fs";
import { errorCode } from "../tool-problem.ts";
import type { Folder } from "./folder.ts";
import { isReserved } from "./workspace-path.ts";

export interface Found {
  readonly folder: Folder;
  readonly entry: Dirent;
  /** From the workspace down. */
  readonly names: readonly string[];
}

export interface WalkOptions {
  readonly signal: AbortSignal;
  /** Folders of these names are shown and not entered. */
  readonly skip: ReadonlySet<string>;
  /** How many folders deep; 1 is the folder itself. */
  readonly depth: number;
}

/** Folders may be as deep as a path may be long; each level holds one descriptor. */
export const DEPTH_MAX = 100;

export async function* walk(
  folder: Folder,
  names: readonly string[],
  options: WalkOptions,
): AsyncGenerator<Found> {
  options.signal.throwIfAborted();
  const entries = (await folder.entries()).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (isReserved(entry.name, names.length)) continue;
    const path = [...names, entry.name];
    yield { folder, entry, names: path };
    if (!entry.isDirectory() || options.skip.has(entry.name) || options.depth <= 1) continue;
    const below = await folderOrNothing(folder, entry.name);
    if (below === undefined) continue;
    try {
      yield* walk(below, path, { ...options, depth: options.depth - 1 });
    } finally {
      await below[Symbol.asyncDispose]();
    }
  }
}

/** A folder that went away or became a link meanwhile, or may not be read, is left out. */
async function folderOrNothing(folder: Folder, name: string): Promise<Folder | undefined> {
  try {
    return await folder.folder(name);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
