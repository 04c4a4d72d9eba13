// What a page that was exported holds: the run, the runs of its agents, their packs, and what was taken out.

import type { JsonObject } from "../base/json.ts";
import type { TurnRow } from "../core/facts.ts";

export const EXPORT_KIND = "packloop.page/1";

export interface RunExport {
  readonly kind: typeof EXPORT_KIND;
  readonly exported_at: string;
  readonly packs: readonly ExportedPack[];
  /** The run, and behind it those of its agents. */
  readonly runs: readonly ExportedRun[];
}

export interface ExportedPack {
  readonly digest: string;
  readonly id: string;
  readonly version: string;
  readonly program: JsonObject;
  readonly source: string;
}

export interface ExportedRun {
  readonly run: string;
  readonly pack: { readonly id: string; readonly version: string; readonly digest: string };
  /** How many the run had; there are fewer rows where the export ends before. */
  readonly turns: number;
  readonly rows: readonly TurnRow[];
  /** Of turns 1 to the last one here as they are stored, before anything was taken out. */
  readonly journal_sha256: string;
  readonly redacted: readonly RedactedTurn[];
  /** Turns before this one are without what models and tools said at length. */
  readonly from: number;
}

export interface RedactedTurn {
  readonly turn: number;
  /** The marks that stand there now, and how many of each. */
  readonly marks: Readonly<Record<string, number>>;
}
