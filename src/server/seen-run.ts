// A run as it stands, for whoever looks at it from outside.

import type { Run } from "../core/run.ts";
import type { Summary } from "../core/summary.ts";
import type { RunRecord } from "../engine/ports.ts";
import { loadedRun } from "../host/stored-runs.ts";
import { summaryFor } from "./run-summary.ts";
import type { ServerParts } from "./server-parts.ts";

export interface SeenRun {
  readonly record: RunRecord;
  readonly run: Run;
  readonly summary: Summary;
}

export async function seenRun({ store }: ServerParts, id: string): Promise<SeenRun> {
  const { record, run } = await loadedRun(store, id);
  return { record, run, summary: summaryFor(record, run) };
}
