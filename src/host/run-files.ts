// What a run leaves beside the store: the folder it worked in, when it had one of its own, and the notes of
// its tools. They go with the run.

import { rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { changeLogFile } from "../adapter/tool/fs/change-log.ts";
import type { RunSettings } from "./run-settings.ts";

export const workRootOf = (storePath: string): string => join(dirname(storePath), "work");

/** The folder that a run's tools work in. */
export const workspaceFolder = (
  { folder, workspace }: RunSettings,
  { workRoot, run }: { readonly workRoot: string; readonly run: string },
): string => (workspace === null ? ownWorkspace(workRoot, run) : resolve(folder, workspace));

/** The folder of a run that works in no other. */
const ownWorkspace = (workRoot: string, run: string): string => join(workRoot, run.replaceAll("/", "_"));

export async function removeRunFiles(storePath: string, runs: readonly string[]): Promise<void> {
  for (const run of runs) {
    await rm(ownWorkspace(workRootOf(storePath), run), { recursive: true, force: true });
    await rm(changeLogFile(dirname(storePath), run), { force: true });
  }
}
