// A run as one entry of a list: `packloop ls --json` and the API's list of runs.

import { isoTime } from "../base/iso-time.ts";
import type { Status } from "../core/facts.ts";
import type { Summary } from "../core/summary.ts";
import type { RunRecord } from "../engine/ports.ts";

export interface RunLine {
  readonly run: string;
  readonly status: Status;
  readonly state: string | null;
  readonly pack: Summary["pack"];
  readonly turns: number;
  readonly visits: number;
  readonly reason: string | null;
  readonly parent: string | null;
  readonly started_at: string;
  readonly updated_at: string;
}

export function runLine(record: RunRecord): RunLine {
  return {
    run: record.run,
    status: record.status,
    state: record.state,
    pack: { id: record.packId, version: record.packVersion, digest: record.digest },
    turns: record.turn,
    visits: record.visits,
    reason: record.reason,
    parent: record.parent,
    started_at: isoTime(record.startedAt),
    updated_at: isoTime(record.updatedAt),
  };
}
