// Turns of a run from the server: pages first, several at a time because full pages never change, then the
// stream. A connection that is lost is taken up again where it stopped, so every turn comes once. The rest of
// large values is not among it, and fetched when somebody wants to see it.

import type { TurnRow } from "../../../src/core/facts.ts";
import type { Run } from "../../../src/core/run.ts";
import { ApiError, ask, askStream, runPath } from "../api.ts";
import { eventsIn } from "./event-lines.ts";
import type { Around, PackOf, Source, Told } from "./source.ts";
import { visitRows } from "./visit-rows.ts";

interface TurnJson extends Omit<TurnRow, "at"> {
  readonly at: string;
}

interface TurnPage {
  readonly items: readonly TurnJson[];
}

/** The most that the server gives at a time. */
const PAGE = 500;

/** One is made while the other is read; what somebody waits for comes between them. */
const AT_ONCE = 2;

/** Before the stream is opened again. */
const PAUSES_MS: readonly number[] = [250, 1_000, 2_000, 5_000, 10_000];

/** The server says something every 15 seconds; who hears nothing for so long is cut off. */
const SILENT_MS = 45_000;

export function serverSource(run: string, pausesMs = PAUSES_MS): Source {
  return {
    follow: (told, signal) => follow(run, { told, signal, pausesMs }),
    program: (digest) => ask<PackOf>(`/api/packs/${encodeURIComponent(digest)}`),
    around: (turn) => around(run, turn),
    row: (turn) => wholeRow(run, turn),
    visits: (first, most) => visitRows(run, { first, most }),
  };
}

const rowOf = ({ turn, at, v, facts }: TurnJson): TurnRow => ({ turn, at: Date.parse(at), v, facts });

async function around(run: string, turn: number | undefined): Promise<Around> {
  const at = turn === undefined ? "" : `&at=${turn}`;
  const { snapshot, items } = await ask<TurnPage & { readonly snapshot: Run }>(
    `${runPath(run)}/snapshot?values=short${at}`,
  );
  return { base: snapshot, rows: items.map(rowOf) };
}

async function wholeRow(run: string, turn: number): Promise<TurnRow | undefined> {
  const { items } = await ask<TurnPage>(`${runPath(run)}/turns?from=${turn}&to=${turn}`);
  return items.map(rowOf)[0];
}

interface Following {
  readonly told: Told;
  readonly signal: AbortSignal;
  readonly pausesMs: readonly number[];
}

async function follow(run: string, { told, signal, pausesMs }: Following): Promise<void> {
  told.live("loading");
  let seen = 0;
  let isBehind = true;
  const saw = (turn: number): void => {
    seen = turn;
  };
  for (let tried = 0; !signal.aborted; tried++) {
    try {
      if (isBehind) await loadPages(run, { told, signal, after: seen, saw });
      isBehind = false;
      const opened = (): void => {
        tried = 0;
        told.live("live");
      };
      const end = await stream(run, { told, signal, after: seen, saw }, opened);
      if (end === "ended") return told.live("ended");
      isBehind = end === "behind";
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError) || !mayPass(error)) throw error;
    }
    told.live("lost");
    await pause(pausesMs[Math.min(tried, pausesMs.length - 1)] ?? 0, signal);
  }
}

/** Not for ever: nobody is there, there are too many, or something broke. */
const mayPass = ({ status }: ApiError): boolean => status === 0 || status === 429 || status >= 500;

interface From {
  readonly told: Told;
  readonly signal: AbortSignal;
  /** The last turn that is known. */
  readonly after: number;
  readonly saw: (turn: number) => void;
}

/** As many turns as there were when it began. */
async function loadPages(run: string, { told, signal, after, saw }: From): Promise<void> {
  const { turns } = await ask<{ turns: number }>(`${runPath(run)}?output=none`, { signal });
  const fetchPage = (first: number): Promise<TurnPage> => {
    const to = Math.min(first + PAGE - 1, turns);
    return ask<TurnPage>(`${runPath(run)}/turns?from=${first}&to=${to}&limit=${PAGE}&values=short`, {
      signal,
    });
  };
  const pending = new Map<number, Promise<TurnPage>>();
  for (let first = after + 1; first <= turns; first += PAGE) {
    for (let next = first; next <= turns && pending.size < AT_ONCE; next += PAGE)
      if (!pending.has(next)) pending.set(next, quiet(fetchPage(next)));
    const page = await (pending.get(first) as Promise<TurnPage>);
    pending.delete(first);
    told.rows(page.items.map(rowOf), turns);
    saw(page.items.at(-1)?.turn ?? first - 1);
  }
}

/** Its failure is heard of when it is waited for, or not at all. */
function quiet<T>(page: Promise<T>): Promise<T> {
  page.catch(() => undefined);
  return page;
}

/** The run has ended, too much came at once, or the stream has only to be opened again. */
type StreamEnd = "ended" | "behind" | "cut off";

async function stream(
  run: string,
  { told, signal, after, saw }: From,
  opened: () => void,
): Promise<StreamEnd> {
  const silence = new Silence(signal);
  const batch = new Batch((rows) => told.rows(rows, 0));
  try {
    const body = await askStream(`${runPath(run)}/stream?after=${after}&values=short`, silence.signal);
    if (body === null) return "ended";
    opened();
    for await (const { name, data } of eventsIn(body)) {
      silence.heard();
      if (name === "end") return "ended";
      if (name === "resync") return "behind";
      if (name === "turn") {
        const row = rowOf(JSON.parse(data) as TurnJson);
        saw(row.turn);
        batch.add(row);
      } else if (name === "token") {
        const { step, text } = JSON.parse(data) as { step: number; text: string };
        told.tokens(step, text);
      }
    }
    return "cut off";
  } catch (error) {
    // Whatever broke it off in the middle, the rest comes with the next.
    if (signal.aborted || error instanceof ApiError) throw error;
    return "cut off";
  } finally {
    silence.end();
    batch.flush();
  }
}

/** Ends a request when nothing was heard for too long: a connection may die without a word. */
class Silence {
  readonly #ended = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly signal: AbortSignal;

  constructor(outer: AbortSignal) {
    this.signal = AbortSignal.any([outer, this.#ended.signal]);
    this.heard();
  }

  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ended.abort(), SILENT_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#ended.abort();
  }
}

/** Turns that come quickly are taken together, a frame's worth at a time. */
class Batch {
  readonly #take: (rows: readonly TurnRow[]) => void;
  #rows: TurnRow[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(take: (rows: readonly TurnRow[]) => void) {
    this.#take = take;
  }

  add(row: TurnRow): void {
    this.#rows.push(row);
    this.#timer ??= setTimeout(() => this.flush(), 16);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#rows.length > 0) this.#take(this.#rows);
    this.#rows = [];
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
