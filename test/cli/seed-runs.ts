// How runs of the packs from the RFCs are compared: the end of a run, and its trace row by row.

import type { Json } from "../../src/base/json.ts";
import type { RunFolder } from "./run-folder.ts";

/** A trace row without numbers and times. */
type Row = readonly [
  from: string | null,
  event: string | null,
  to: string,
  visit: number,
  cause: string,
  redirectedFrom: readonly string[],
  artifacts: Readonly<Record<string, Json>>,
];

interface Ended {
  readonly code: number | null;
  readonly status: string;
  readonly reason: unknown;
  readonly text: string | undefined;
}

export function play(folder: RunFolder, args: readonly string[]): Ended {
  const { code, summary } = folder.summary(args);
  return { code, status: summary.status, reason: summary.reason, text: summary.output?.text };
}

export const rowsOf = (folder: RunFolder): readonly Row[] =>
  folder
    .trace()
    .map((row) => [row.from, row.event, row.to, row.visit, row.cause, row.redirected_from, row.artifacts]);

export const completed = { code: 0, status: "completed", reason: null };
export const exhausted = (limit: string, value: number, state: string) => ({
  code: 11,
  status: "budget_exhausted",
  reason: { code: limit, limit, value, state },
});
