// Everything that waits for a person, over all runs, who has waited longest first.

import { isoTime } from "../base/iso-time.ts";
import { type Summary, summaryOf, type WaitingFor } from "../core/summary.ts";
import type { RunRecord, Store } from "../engine/ports.ts";
import { runAt, unlessDamaged } from "./stored-runs.ts";

export interface InboxItem extends WaitingFor {
  readonly run: string;
  readonly pack: Summary["pack"];
  readonly state: string | null;
  /** The run's last turn: since then nothing has moved it. */
  readonly since: string;
  /** When its wall time ends it, if there is a limit. */
  readonly expires_at: string | null;
  /** The runs that wait for it, the outermost first. */
  readonly parents: readonly string[];
}

export interface InboxPage {
  readonly items: readonly InboxItem[];
  /** Where the next page begins; undefined on the last one. */
  readonly next: string | undefined;
}

/** Runs looked up at a time. */
const PAGE = 200;

/** At least `limit` items where there are so many: those of one run are never torn apart. */
export async function inboxOf(
  store: Store,
  damaged: (run: string) => void,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<InboxPage> {
  const items: InboxItem[] = [];
  let place = after;
  for (;;) {
    const size = Math.min(PAGE, limit + 1);
    const page = await store.asking({ limit: size, ...(place !== undefined && { after: place }) });
    for (const asking of page) {
      if (items.length >= limit) return { items, next: place };
      const own = await unlessDamaged(() => itemsOf(store, asking.run));
      if (own === undefined) damaged(asking.run);
      else items.push(...own);
      place = asking.place;
    }
    if (page.length < size) return { items, next: undefined };
  }
}

async function itemsOf(store: Store, id: string): Promise<readonly InboxItem[]> {
  const record = await store.record(id);
  return record === undefined || record.open.length === 0 ? [] : waitsOf(store, record);
}

async function waitsOf(store: Store, record: RunRecord): Promise<readonly InboxItem[]> {
  const { run: id, packId, packVersion, digest, state, updatedAt, due } = record;
  const pack = { id: packId, version: packVersion, digest };
  const run = await runAt(store, id, record.turn);
  // Who waits for an agent asks nothing: the agent's question stands here itself.
  const own = summaryOf(id, pack, run).waiting_for.filter((wait) => wait.run === undefined);
  return own.map((wait) => ({
    ...wait,
    run: id,
    pack,
    state,
    since: isoTime(updatedAt),
    expires_at: due === null ? null : isoTime(due),
    parents: callersOf(id, record),
  }));
}

/** An agent's run is named after the step of the run that called it. */
function callersOf(id: string, { parent }: RunRecord): readonly string[] {
  if (parent === null) return [];
  const parts = id.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}
