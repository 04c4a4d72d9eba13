// For tests of stores in files: fresh paths, looks past the store at what it wrote, and other processes that
// open it.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll } from "vitest";
import type { Store } from "../engine/ports.ts";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";

/** Gives a new path each time; the files go when the tests are done. */
export function freshPaths(): () => string {
  const folder = mkdtempSync(join(tmpdir(), "packloop-store-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let count = 0;
  return () => join(folder, `${++count}.db`);
}

/** Opens, acts, closes. */
export async function inStore<T>(path: string, act: (store: Store) => Promise<T>): Promise<T> {
  await using store = await openSqliteStore(path);
  return await act(store);
}

/** One row from the file itself. */
export function look(path: string, sql: string): Record<string, number> {
  const db = new DatabaseSync(path);
  const row = db.prepare(sql).get() as Record<string, number>;
  db.close();
  return row;
}

/** Changes the file behind the store's back. */
export function change(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

const modules = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);

/** Another process: `code` sees `store`, opened at `path`, the sample journals, and `say` to print a line. */
export function inProcess(path: string, code: string): ChildProcess {
  const program = `
    import { openSqliteStore } from ${modules("./sqlite/sqlite-store.ts")};
    import { sampleCreation, sampleJournal } from ${modules("./sample-journal.ts")};
    const say = (line) => process.stdout.write(line + "\\n");
    const store = await openSqliteStore(${JSON.stringify(path)});
    ${code}`;
  return spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Lines the process prints; ends when it does. */
export async function* linesOf(child: ChildProcess): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of child.stdout ?? []) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

export async function killed(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
