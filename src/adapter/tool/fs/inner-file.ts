// Whether a path names a regular file inside a folder, links followed: what is claimed of a file is looked up
// where it really lies.

import { realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";

/** The file's real path; undefined when it is not there, not a file, or not inside. */
export function innerFile(folder: string, path: string): string | undefined {
  try {
    const home = realpathSync(folder);
    const real = realpathSync(join(home, path));
    return real.startsWith(home + sep) && statSync(real).isFile() ? real : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && typeof (error as NodeJS.ErrnoException).code === "string" && "syscall" in error;
