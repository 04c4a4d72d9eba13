// A turn as `packloop run --json` prints it, with the version of its facts' shapes.

import { isoTime } from "../base/iso-time.ts";
import type { TurnRow } from "../core/facts.ts";

export const turnJson = (run: string, { turn, at, v, facts }: TurnRow) => ({
  run,
  turn,
  at: isoTime(at),
  v,
  facts,
});
