// Makes a folder and those above it. The library's own way to do so goes round for ever below a folder that
// exists and takes no others, such as those of a process file system.

import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

export function makeFolder(path: string, { mode = 0o777 }: { readonly mode?: number } = {}): void {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.push(at);
  if (missing.length === 0) made(resolve(path), mode);
  for (const folder of missing.reverse()) made(folder, mode);
}

/** Somebody else may have made it meanwhile. */
function made(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === "EEXIST";
    if (!isTaken || statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}
