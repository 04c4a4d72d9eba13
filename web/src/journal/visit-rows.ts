// Rows of the trace as the server has them, for when the turns are not here yet.

import type { TraceRow } from "../../../src/core/trace.ts";
import { ask, runPath } from "../api.ts";
import type { VisitRow } from "./journal-shapes.ts";

/** From a place on, the first being 0. */
export async function visitRows(
  run: string,
  { first, most }: { readonly first: number; readonly most: number },
): Promise<readonly VisitRow[]> {
  const rows = await ask<readonly TraceRow[]>(
    `${runPath(run)}/trace?values=short&row=${first + 1}&limit=${most}`,
  );
  return rows.slice(0, most).map(narrow);
}

function narrow(row: TraceRow): VisitRow {
  const { turn, from, event, to, visit, cause, by, changed, used, redirected_from: redirectedFrom } = row;
  const cells = row.artifacts as Readonly<Record<string, string>>;
  const at = Date.parse(row.at);
  return { turn, from, event, to, visit, cause, redirectedFrom, by, cells, changed, used, at };
}
