// A run as one entry of a list: `packloop ls --json` and the API's list of runs.

import { isoTime } from "../base/iso-time.ts";
import type { Status } from "../core/facts.ts";
import type { Summary, SummaryUsed } from "../core/summary.ts";
import type { RunRecord } from "../engine/ports.ts";

export interface RunLine {
  readonly run: string;
  readonly status: Status;
  /** Somebody holds it. */
  readonly held: boolean;
  readonly state: string | null;
  readonly pack: Summary["pack"];
  readonly turns: number;
  readonly visits: number;
  /** With its agents; null for runs that were stored before it was counted here. */
  readonly used: Omit<SummaryUsed, "visits" | "wall_ms"> | null;
  readonly reason: string | null;
  readonly parent: string | null;
  readonly started_at: string;
  readonly updated_at: string;
}

export function runLine(record: RunRecord): RunLine {
  return {
    run: record.run,
    status: record.status,
    held: record.held,
    state: record.state,
    pack: { id: record.packId, version: record.packVersion, digest: record.digest },
    turns: record.turn,
    visits: record.visits,
    used: record.used && {
      tool_calls: record.used.toolCalls,
      model_calls: record.used.modelCalls,
      input_tokens: record.used.inputTokens,
      output_tokens: record.used.outputTokens,
      cost_usd: record.used.costUsd,
    },
    reason: record.reason,
    parent: record.parent,
    started_at: isoTime(record.startedAt),
    updated_at: isoTime(record.updatedAt),
  };
}
