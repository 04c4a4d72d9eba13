// When the visit began that a run is in the middle of.

import type { Run } from "../../core/run.ts";
import type { Store } from "../../engine/ports.ts";

/** Turns read at a time, from the last one back; a visit of more is shown as if it began with them. */
const PAGE = 200;
const PAGES_MAX = 20;

export async function visitSince(store: Store, id: string, run: Run): Promise<number> {
  let to = run.turn;
  let since = run.now;
  for (let page = 0; page < PAGES_MAX && to >= 1; page++) {
    const rows = await store.rows(id, { from: Math.max(1, to - PAGE + 1), to, limit: PAGE });
    const began = rows.findLast(({ facts }) =>
      facts.some(({ type }) => type === "entered" || type === "started"),
    );
    if (began !== undefined) return began.at;
    since = rows[0]?.at ?? since;
    to -= PAGE;
  }
  return since;
}
