// A turn as `packloop run --json` prints it, with the version of its facts' shapes.

import { isoTime } from "../base/iso-time.ts";
import type { TurnRow } from "../core/facts.ts";
import { shortRow } from "../core/short-turn.ts";

/** `short` leaves out the rest of large values. */
export type Values = "all" | "short" | undefined;

export const turnJson = (run: string, { turn, at, v, facts }: TurnRow) => ({
  run,
  turn,
  at: isoTime(at),
  v,
  facts,
});

export const turnJsonWith = (run: string, row: TurnRow, values: Values) =>
  turnJson(run, values === "short" ? shortRow(row) : row);
