// Turns of a run from the server: pages first, several at a time because full pages never change, then the
// stream. A connection that is lost is taken up again where it stopped.

import type { TurnRow } from "../../../src/core/facts.ts";
import { ApiError, ask, runPath } from "../api.ts";
import type { PackOf, Source, Told } from "./journal-service.ts";

interface TurnJson extends Omit<TurnRow, "at"> {
  readonly at: string;
}

interface TurnPage {
  readonly items: readonly TurnJson[];
  readonly next_cursor: string | null;
}

const PAGE = 200;

/** A browser opens six connections to a server, and one is the stream's. */
const AT_ONCE = 4;

/** Pauses before the stream is opened again by us, where the browser gave up. */
const PAUSES_MS = [1_000, 2_000, 5_000, 10_000];

export function serverSource(run: string): Source {
  return {
    follow: (told, signal) => follow(run, told, signal),
    program: (digest) => ask<PackOf>(`/api/packs/${encodeURIComponent(digest)}`),
  };
}

const rowOf = ({ turn, at, v, facts }: TurnJson): TurnRow => ({ turn, at: Date.parse(at), v, facts });

async function follow(run: string, told: Told, signal: AbortSignal): Promise<void> {
  told.live("loading");
  let seen = 0;
  for (let tried = 0; !signal.aborted; tried++) {
    try {
      seen = await loadPages(run, { told, signal, after: seen });
      tried = 0;
      told.live("live");
      const ended = await stream(run, { told, signal, after: seen }, (turn) => {
        seen = turn;
      });
      if (ended) return told.live("ended");
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError) || (error.status !== 0 && error.status < 500)) throw error;
    }
    told.live("lost");
    await pause(PAUSES_MS[Math.min(tried, PAUSES_MS.length - 1)] ?? 0, signal);
  }
}

interface From {
  readonly told: Told;
  readonly signal: AbortSignal;
  /** The last turn that is known. */
  readonly after: number;
}

/** The last turn there was when it ended. */
async function loadPages(run: string, { told, signal, after }: From): Promise<number> {
  const { turns } = await ask<{ turns: number }>(`${runPath(run)}?output=none`, { signal });
  const starts: number[] = [];
  for (let first = after + 1; first <= turns; first += PAGE) starts.push(first);
  const pending = new Map<number, Promise<TurnPage>>();
  const fetchPage = (first: number): Promise<TurnPage> => {
    const to = Math.min(first + PAGE - 1, turns);
    return ask<TurnPage>(`${runPath(run)}/turns?from=${first}&to=${to}&limit=${PAGE}`, { signal });
  };
  for (const [index, first] of starts.entries()) {
    for (const next of starts.slice(index, index + AT_ONCE))
      if (!pending.has(next)) pending.set(next, fetchPage(next));
    const page = await (pending.get(first) as Promise<TurnPage>);
    pending.delete(first);
    told.rows(page.items.map(rowOf), turns);
  }
  return turns;
}

/** Resolves with whether the run has ended; false when the stream has to be opened again. */
function stream(run: string, { told, signal, after }: From, saw: (turn: number) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const source = new EventSource(`${runPath(run)}/stream?after=${after}`);
    const batch = new Batch((rows) => told.rows(rows, 0));
    const finish = (ended: boolean) => {
      source.close();
      batch.flush();
      resolve(ended);
    };
    signal.addEventListener("abort", () => finish(true), { once: true });
    source.addEventListener("open", () => told.live("live"));
    source.addEventListener("turn", ({ data }: MessageEvent<string>) => {
      const row = rowOf(JSON.parse(data) as TurnJson);
      saw(row.turn);
      batch.add(row);
    });
    source.addEventListener("token", ({ data }: MessageEvent<string>) => {
      const { step, text } = JSON.parse(data) as { step: number; text: string };
      told.tokens(step, text);
    });
    source.addEventListener("end", () => finish(true));
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) isOver(run).then(finish, () => finish(false));
      else told.live("lost");
    });
  });
}

/** A stream that was refused may have had nothing more to say. */
async function isOver(run: string): Promise<boolean> {
  const { status } = await ask<{ status: string }>(`${runPath(run)}?output=none`);
  return status !== "running" && status !== "waiting";
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
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
