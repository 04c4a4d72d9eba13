// The whole trace of a run, for who takes it elsewhere: from the server in parts, or from the file it is in.

import { fold } from "../../../src/core/apply.ts";
import { childrenOf } from "../../../src/core/summary.ts";
import { rowsWithChildren, type TraceRow, traceOf } from "../../../src/core/trace.ts";
import { ask, runPath } from "../api.ts";
import { embeddedRun, exportedIn } from "../export/embedded-run.ts";

/** Rows asked for at a time. */
const PART = 5_000;

/** `short` cuts values to one line each. */
export async function traceRows(run: string, values: "all" | "short" = "all"): Promise<readonly TraceRow[]> {
  const embedded = embeddedRun();
  if (embedded !== undefined) {
    const { rows } = exportedIn(await embedded.about(), run);
    return rowsWithChildren([...traceOf(rows)], childrenOf(run, fold(rows)));
  }
  const all: TraceRow[] = [];
  for (;;) {
    const after = all.at(-1)?.turn ?? 0;
    const part = await ask<readonly TraceRow[]>(
      `${runPath(run)}/trace?after=${after}&limit=${PART}&values=${values}`,
    );
    all.push(...part);
    if (part.length < PART) return all;
  }
}
