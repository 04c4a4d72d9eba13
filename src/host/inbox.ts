// Everything that waits for a person, over all runs, oldest first.

import { isoTime } from "../base/iso-time.ts";
import { type Summary, summaryOf, type WaitingFor } from "../core/summary.ts";
import type { RunRecord, Store } from "../engine/ports.ts";
import { eachRecord, runAt, unlessDamaged } from "./stored-runs.ts";

export interface InboxItem extends WaitingFor {
  readonly run: string;
  readonly pack: Summary["pack"];
  readonly state: string | null;
  /** The run's last turn: since then nothing has moved it. */
  readonly since: string;
  /** When its wall time ends it, if there is a limit. */
  readonly expires_at: string | null;
}

export interface InboxPage {
  readonly items: readonly InboxItem[];
  /** The run after which the next page begins; undefined on the last one. */
  readonly next: string | undefined;
}

export async function inboxOf(
  store: Store,
  damaged: (run: string) => void,
  {
    after,
    limit = Number.POSITIVE_INFINITY,
  }: { readonly after?: string | undefined; readonly limit?: number } = {},
): Promise<InboxPage> {
  const found: RunRecord[] = [];
  // A run at work may have a question open beside it: an approval, or the events of a hybrid state.
  for await (const record of eachRecord(store, { status: ["waiting", "running"] }, damaged))
    if (record.open.length > 0) found.push(record);
  // The store lists the newest first; among runs of one moment the older one comes first as well.
  const oldest = found.reverse().toSorted((a, b) => a.updatedAt - b.updatedAt);
  const first = after === undefined ? 0 : oldest.findIndex(({ run }) => run === after) + 1;
  const items: InboxItem[] = [];
  for (const [index, record] of oldest.entries()) {
    if (index < first) continue;
    if (items.length >= limit) return { items, next: oldest[index - 1]?.run };
    const own = await unlessDamaged(() => itemsOf(store, record));
    if (own === undefined) damaged(record.run);
    else items.push(...own);
  }
  return { items, next: undefined };
}

async function itemsOf(store: Store, record: RunRecord): Promise<readonly InboxItem[]> {
  const { run: id, packId, packVersion, digest, state, updatedAt, due } = record;
  const pack = { id: packId, version: packVersion, digest };
  const run = await runAt(store, id, record.turn);
  return summaryOf(id, pack, run).waiting_for.map((wait) => ({
    run: id,
    ...wait,
    pack,
    state,
    since: isoTime(updatedAt),
    expires_at: due === null ? null : isoTime(due),
  }));
}
