// What a run leaves beside the store: the folder it worked in, when it had one of its own, and the notes of
// its tools. They go with the run.

import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { changeLogFile } from "../adapter/tool/fs/change-log.ts";

export const workRootOf = (storePath: string): string => join(dirname(storePath), "work");

/** The folder of a run that works in no other. */
export const ownWorkspace = (workRoot: string, run: string): string =>
  join(workRoot, run.replaceAll("/", "_"));

export async function removeRunFiles(storePath: string, runs: readonly string[]): Promise<void> {
  for (const run of runs) {
    await rm(ownWorkspace(workRootOf(storePath), run), { recursive: true, force: true });
    await rm(changeLogFile(dirname(storePath), run), { force: true });
  }
}
