// Runs as server-sent events. Turns come from the journal, so whoever names the last turn it has seen misses
// none and gets none twice; streamed text is passed on as it comes and may be lost.

import type { Delta, Store } from "../engine/ports.ts";
import type { RunLine } from "../host/run-line.ts";
import type { Reader } from "./feed.ts";
import { isOver } from "./is-over.ts";
import { turnJson } from "./turn-json.ts";

/** Turns read at a time. */
const PAGE = 100;

/** How soon a follower that was cut off should come back. */
const RETRY = "retry: 2000\n\n";

interface Followed {
  readonly id: string;
  /** The last turn the follower has seen. */
  readonly after: number;
  /** The run has ended already, though it may owe its caller the news. */
  readonly ended: boolean;
  readonly reader: Reader<Delta>;
}

/** Ends after the last turn of a run that has ended, and when the reader is stopped. */
export async function* runEvents(
  store: Store,
  { id, after, reader, ended }: Followed,
): AsyncGenerator<string> {
  yield RETRY;
  let hasEnded = ended;
  for (let seen = after; !reader.stopped; ) {
    // Asked for before looking: what comes while we look must not be missed.
    const changed = reader.next();
    const { items, lost } = reader.take();
    for (const { step, attempt, text } of items)
      yield event("delta", { run: id, step, attempt, text, ...(lost && { lost }) });
    const rows = await store.rows(id, { from: seen + 1, to: Number.MAX_SAFE_INTEGER, limit: PAGE });
    for (const row of rows) yield event("turn", turnJson(id, row), row.turn);
    seen = rows.at(-1)?.turn ?? seen;
    hasEnded ||= rows.some(({ facts }) => facts.some(({ type }) => type === "finished"));
    if (rows.length > 0) continue;
    // Only then is the record looked at: it may be large, and this is done for every turn of every follower.
    if (!hasEnded) {
      await changed;
      continue;
    }
    const record = await store.record(id);
    if (record === undefined) return yield event("gone", { run: id });
    if (isOver(record) && record.turn <= seen)
      return yield event("end", { run: id, status: record.status, turns: record.turn });
    if (record.turn <= seen) await changed;
  }
}

/** Runs that move, each once for all its turns since the last look. */
export async function* listEvents(
  reader: Reader<string>,
  line: (run: string) => Promise<RunLine | undefined>,
): AsyncGenerator<string> {
  yield RETRY;
  while (!reader.stopped) {
    const changed = reader.next();
    const { items, lost } = reader.take();
    if (lost) yield event("resync", {});
    for (const run of items) yield event("run", (await line(run)) ?? { run, removed: true });
    if (items.length === 0) await changed;
  }
}

const event = (name: string, data: unknown, id?: number): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
