// Runs as server-sent events. Turns come from the journal, so whoever names the last one it has seen misses
// none and gets none twice; streamed text is passed on as it comes and may be lost.

import type { Delta, Store } from "../engine/ports.ts";
import { unlessDamaged } from "../host/stored-runs.ts";
import type { Reader } from "./feed.ts";
import { isOver } from "./is-over.ts";
import type { Place, StreamLog } from "./stream-log.ts";
import { turnJson, turnJsonWith, type Values } from "./turn-json.ts";

/** Turns read at a time. */
const PAGE = 100;

/** How soon a follower that was cut off should come back. */
const RETRY = "retry: 2000\n\n";

interface Followed {
  readonly id: string;
  /** The last turn the follower has seen; undefined when it has seen nothing. */
  readonly after: number | undefined;
  /** The run has ended already, though it may owe its caller the news. */
  readonly ended: boolean;
  readonly reader: Reader<Delta>;
  readonly values?: Values;
  /** How the run stands, for who comes without a place. */
  readonly snapshot: () => Promise<unknown>;
}

/** Ends after the last turn of a run that has ended, and when the reader is stopped or left behind. */
export async function* runEvents(store: Store, followed: Followed): AsyncGenerator<string> {
  const { id, after, reader, values, snapshot } = followed;
  yield RETRY;
  if (after === undefined) yield event("snapshot", await snapshot());
  let hasEnded = followed.ended;
  for (let seen = after ?? 0; !reader.stopped; ) {
    if (reader.isLeftBehind) return yield event("resync", { run: id, after: seen });
    // Asked for before looking: what comes while we look must not be missed.
    const changed = reader.next();
    const { items, lost } = reader.take();
    for (const { step, attempt, text } of items)
      yield event("token", { run: id, step, attempt, text, ...(lost && { lost }) });
    const rows = await store.rows(id, { from: seen + 1, to: Number.MAX_SAFE_INTEGER, limit: PAGE });
    for (const row of rows) yield event("turn", turnJsonWith(id, row, values), row.turn);
    seen = rows.at(-1)?.turn ?? seen;
    hasEnded ||= rows.some(({ facts }) => facts.some(({ type }) => type === "finished"));
    if (rows.length > 0) continue;
    reader.upToDate();
    // Only then is the record looked at: it may be large, and this is done for every turn of every follower.
    if (!hasEnded) {
      await changed;
      continue;
    }
    const record = await store.record(id);
    if (record === undefined) return yield event("end", { run: id, removed: true });
    if (isOver(record) && record.turn <= seen)
      return yield event("end", { run: id, status: record.status, turns: record.turn });
    if (record.turn <= seen) await changed;
  }
}

interface FollowedAll {
  /** The last place the follower has seen; undefined when it has seen nothing. */
  readonly after: number | undefined;
  readonly reader: Reader<never>;
}

/** Turns of all runs in the order of their places. Who comes without one hears of what comes from now on. */
export async function* allEvents(
  { store, stream }: { readonly store: Store; readonly stream: StreamLog },
  { after, reader }: FollowedAll,
): AsyncGenerator<string> {
  yield RETRY;
  let seen = after ?? stream.last;
  if (after === undefined) yield event("snapshot", { position: seen }, seen);
  while (!reader.stopped) {
    if (reader.isLeftBehind) return yield event("resync", { after: seen });
    const changed = reader.next();
    const places = stream.after(seen, PAGE);
    for (const place of places) yield* placedTurn(store, place);
    seen = places.at(-1)?.position ?? seen;
    if (places.length > 0) continue;
    reader.upToDate();
    await changed;
  }
}

/** Nothing when its run was removed or is damaged. */
async function* placedTurn(store: Store, { run, turn, position }: Place): AsyncGenerator<string> {
  const rows = await unlessDamaged(() => store.rows(run, { from: turn, to: turn, limit: 1 }));
  for (const row of rows ?? []) yield event("turn", { position, ...turnJson(run, row) }, position);
}

const event = (name: string, data: unknown, id?: number): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
