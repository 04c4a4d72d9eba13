// A folded run as a snapshot: its fields as one text, and its logs (the conversation, append artifacts) as
// the items that no earlier snapshot holds. A snapshot is a cache: of another fold version it is ignored and
// dropped.

import { type Json, type JsonObject, put } from "../../base/json.ts";
import { type Log, logOf } from "../../base/log.ts";
import type { ArtifactValue, Message, Run } from "../../core/run.ts";

/** To be raised when `apply` or the shape of `Run` changes what a journal folds to. */
export const FOLD_VERSION = 2;

export interface SnapshotWrite {
  /** The run without its logs. */
  readonly data: string;
  readonly logs: readonly LogWrite[];
}

export interface LogWrite {
  /** Number of the stored log that this one continues; 0 when it is written whole. */
  readonly log: number;
  readonly start: number;
  readonly length: number;
  /** JSON of the items from `start` on. */
  readonly items: string;
}

/** A stored log and how much of it belongs to a snapshot. */
export type LogRef = readonly [log: number, length: number];

/**
 * The logs of a run in a fixed order: the conversation, then append artifacts as they stand in `artifacts`.
 */
export function logsOf(run: Run): readonly Log<unknown>[] {
  const logs: Log<unknown>[] = [run.conversation];
  for (const artifact of Object.values(run.artifacts))
    if (artifact.mode === "append") logs.push(artifact.pieces);
  return logs;
}

/** The run with the place of each log instead of the log. */
export function withoutLogs(run: Run): JsonObject {
  const artifacts: Record<string, unknown> = {};
  let place = 1;
  for (const [name, artifact] of Object.entries(run.artifacts)) {
    put(artifacts, name, artifact.mode === "append" ? { ...artifact, pieces: place++ } : artifact);
  }
  return { ...run, conversation: 0, artifacts } as unknown as JsonObject;
}

export function putTogether(data: string, logs: readonly (readonly Json[])[]): Run {
  const flat = JSON.parse(data) as Run & { readonly artifacts: JsonObject };
  const artifacts: Record<string, ArtifactValue> = {};
  for (const [name, artifact] of Object.entries(flat.artifacts as Run["artifacts"])) {
    const pieces = artifact.mode === "append" ? logs[artifact.pieces as unknown as number] : undefined;
    put(artifacts, name, pieces === undefined ? artifact : { ...artifact, pieces: logOf(pieces) });
  }
  const conversation = logOf((logs[0] ?? []) as unknown as readonly Message[]);
  return { ...flat, conversation, artifacts };
}
