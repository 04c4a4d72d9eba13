// Folders of jobs, one for each tree of jobs, beside the state. The queue is serial, so each has one writer
// at a time.

import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { assert } from "../base/assert.ts";
import { makeFolder } from "../engine/make-folder.ts";
import type { QueueFile } from "./queue/queue-file.ts";

export class Workspaces {
  readonly #home: string;

  constructor(statePath: string) {
    this.#home = join(dirname(statePath), "workspaces");
  }

  /** Made when it is not there. */
  folder(id: string): string {
    const path = this.#path(id);
    makeFolder(path, { mode: 0o700 });
    return path;
  }

  /** False when it cannot be removed: a plugin may have left what is not ours to delete. */
  remove(id: string): boolean {
    try {
      rmSync(this.#path(id), { recursive: true, force: true });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      return false;
    }
  }

  #path(id: string): string {
    assert(/^[A-Za-z0-9_-]{1,64}$/.test(id), "workspaces are named by job ids, which are safe as file names");
    return join(this.#home, id);
  }
}

/**
 * Workspaces nobody used since then: no job of them is open, and no plugin's state names them, so that a run
 * that waits long keeps its files.
 */
export function unusedWorkspaces(file: QueueFile, before: number): readonly string[] {
  return file
    .all<{ id: string }>(
      `SELECT id FROM workspace WHERE used_at < ?
         AND NOT EXISTS (SELECT 1 FROM job WHERE workspace_id = workspace.id AND status IN ('queued', 'running'))
         AND NOT EXISTS (SELECT 1 FROM plugin_state WHERE instr(blob, 'job:' || workspace.id) > 0)
       LIMIT 100`,
      before,
    )
    .map(({ id }) => id);
}
