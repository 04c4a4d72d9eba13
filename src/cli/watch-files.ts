// Runs a check again whenever something below the given paths changes, until the process is stopped.

import { existsSync, type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { ExitError, usageError } from "./exit.ts";
import { note } from "./output.ts";

/** Editors write a file in several steps; one check for all of them is enough. */
const SETTLE_MS = 100;
const FOLDERS_MAX = 1_000;

export async function watchAndRun(paths: readonly string[], run: () => number): Promise<void> {
  if (paths.includes("-")) throw usageError("standard input cannot be watched");
  const attempt = (): void => {
    try {
      run();
    } catch (error) {
      if (!(error instanceof ExitError)) throw error;
      note(`error: ${error.message}`);
    }
    note("watching for changes; stop with Ctrl-C");
  };
  let timer: NodeJS.Timeout | undefined;
  const watchers = [...foldersOf(paths)].map(
    (folder): FSWatcher =>
      watch(folder, (_event, name) => {
        if (name === null || !/\.(json|ya?ml)$/i.test(name)) return;
        clearTimeout(timer);
        timer = setTimeout(attempt, SETTLE_MS);
      }),
  );
  // Only now: a change made while the first check runs must be seen.
  attempt();
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve);
  });
  clearTimeout(timer);
  for (const watcher of watchers) watcher.close();
  process.exitCode = 130;
}

/**
 * Each folder is watched by itself: a watch on a file is lost when an editor puts a new file in its place,
 * and recursive watches are made of such watches.
 */
function foldersOf(paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths.length === 0 ? ["."] : paths) {
    const isFolder = existsSync(path) && statSync(path).isDirectory();
    if (isFolder) addFolders(path, folders);
    else folders.add(dirname(path.replace(/[*?[{].*$/, "x")));
  }
  return folders;
}

function addFolders(folder: string, folders: Set<string>): void {
  folders.add(folder);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const skipped = entry.name.startsWith(".") || entry.name === "node_modules";
    if (entry.isDirectory() && !skipped && folders.size < FOLDERS_MAX)
      addFolders(join(folder, entry.name), folders);
  }
}
