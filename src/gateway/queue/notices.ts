// What happened, in order: written in the transaction it speaks of, so that nothing is told that did not
// last. Followers read on from the last number they saw.

import { isoTime } from "../../base/iso-time.ts";
import type { JsonObject } from "../../base/json.ts";
import type { QueueFile } from "./queue-file.ts";

export type NoticeName =
  | `job.${"enqueued" | "deduped" | "started" | "completed" | "failed" | "timed_out" | "dead" | "retry_scheduled"}`
  | `router.${"enqueued" | "dropped"}`
  | "plugin.spawned"
  | "scheduler.tick";

export interface Notice {
  readonly seq: number;
  readonly name: string;
  readonly data: JsonObject;
}

/** How far back a follower can go. */
const RING = 256;

export function notice(file: QueueFile, at: number, name: NoticeName, data: JsonObject): void {
  file.run(
    "INSERT INTO notice (at, name, data) VALUES (?, ?, ?)",
    at,
    name,
    JSON.stringify({ at: isoTime(at), ...data }),
  );
}

export function lastNotice(file: QueueFile): number {
  return file.get<{ seq: number | null }>("SELECT max(seq) AS seq FROM notice")?.seq ?? 0;
}

/** Those after `seq`, of the last ones. */
export function noticesAfter(file: QueueFile, seq: number, limit = RING): readonly Notice[] {
  const from = Math.max(seq, lastNotice(file) - limit);
  const rows = file.all<{ seq: number; name: string; data: string }>(
    "SELECT seq, name, data FROM notice WHERE seq > ? ORDER BY seq",
    from,
  );
  return rows.map((row) => ({ seq: row.seq, name: row.name, data: JSON.parse(row.data) as JsonObject }));
}
