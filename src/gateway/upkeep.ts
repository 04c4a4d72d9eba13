// Forgets what is old: finished jobs with their logs, contexts nobody refers to, notices past their number,
// workspaces past their time. In small portions, between jobs.

import type { ServiceConfig } from "./config/config.ts";
import type { QueueFile } from "./queue/queue-file.ts";
import { unusedWorkspaces, type Workspaces } from "./workspaces.ts";

const JOBS_AT_ONCE = 1_000;
const NOTICES_KEPT = 10_000;

export interface Kept {
  readonly file: QueueFile;
  readonly workspaces: Workspaces;
  readonly service: ServiceConfig;
}

/** The workspaces that could not be removed; they are tried again when their time has passed once more. */
export function upkeep({ file, workspaces, service }: Kept, now: number): readonly string[] {
  // A success is remembered as long as it makes others duplicates.
  const before = now - Math.max(service.jobLogRetentionMs, service.dedupeTtlMs);
  const unused = unusedWorkspaces(file, now - service.workspaceRetentionMs);
  // Folders first: a row without a folder would never be looked at again.
  const stuck = unused.filter((id) => !workspaces.remove(id));
  file.transaction(
    () => {
      for (const id of stuck) file.run("UPDATE workspace SET used_at = ? WHERE id = ?", now, id);
      for (const id of unused) if (!stuck.includes(id)) file.run("DELETE FROM workspace WHERE id = ?", id);
      const old = file.all<{ id: string; context_id: string | null }>(
        `DELETE FROM job WHERE seq IN (
           SELECT seq FROM job AS old WHERE completed_at < ?
             AND NOT EXISTS (SELECT 1 FROM job WHERE root_job_id = old.root_job_id AND completed_at IS NULL)
           LIMIT ${JOBS_AT_ONCE}
         ) RETURNING id, context_id`,
        before,
      );
      for (const { id, context_id: context } of old) {
        file.run("DELETE FROM job_log WHERE job_id = ?", id);
        if (context !== null)
          file.run(
            "DELETE FROM context WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM job WHERE context_id = ?1)",
            context,
          );
      }
      file.run(`DELETE FROM notice WHERE seq <= (SELECT max(seq) FROM notice) - ${NOTICES_KEPT}`);
    },
    { durable: false },
  );
  return stuck;
}
