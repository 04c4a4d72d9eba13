// One run as the page sees it: what the server said first, then what the journal folds to, as it grows.

import type { Summary } from "../../../src/core/summary.ts";
import type { TraceRow } from "../../../src/core/trace.ts";
import { ask, runPath } from "../api.ts";
import { type Embedded, embeddedRun } from "../export/embedded-run.ts";
import type { Live, News, Questions, VisitRow } from "./journal-shapes.ts";
import { type Journaled, workerJournal } from "./worker-journal.ts";

export interface FeedState {
  readonly summary: Summary | undefined;
  /** Rows by their place; those not loaded yet are missing. */
  readonly visits: ReadonlyMap<number, VisitRow>;
  readonly visitCount: number;
  readonly loaded: number;
  readonly turns: number;
  readonly live: Live;
  readonly tokens: { readonly step: number; readonly text: string } | undefined;
  readonly error: Error | undefined;
}

/** Turns whose rows are asked for at first: what fits a screen, many times over. */
const TAIL_TURNS = 400;
const TAIL_ROWS = 200;

export class RunFeed {
  readonly run: string;
  readonly #visits = new Map<number, VisitRow>();
  readonly #listeners = new Set<() => void>();
  #journal: Journaled | undefined;
  #state: FeedState;
  #pack: Pick<Summary["pack"], "id" | "version"> | undefined;

  constructor(run: string) {
    this.run = run;
    this.#state = {
      summary: undefined,
      visits: this.#visits,
      visitCount: 0,
      loaded: 0,
      turns: 0,
      live: "loading",
      tokens: undefined,
      error: undefined,
    };
  }

  /** What is asked waits until the turns it needs are here. */
  get questions(): Questions {
    if (this.#journal === undefined) throw new Error("a run is opened before it is asked");
    return this.#journal;
  }

  begin(): void {
    const embedded = embeddedRun();
    if (embedded !== undefined) {
      this.#beginEmbedded(embedded).catch((error: unknown) => this.#fail(error));
      return;
    }
    const journal = workerJournal(this.run, (news) => this.#take(news));
    this.#journal = journal;
    // The journal is read after that: its many pages must not hold up what is shown first.
    void this.#first()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => journal.begin());
  }

  /** Only a file folds in the page itself, so only there what folds is part of it. */
  async #beginEmbedded(embedded: Embedded): Promise<void> {
    const Service = (await import("./journal-service.ts")).JournalService;
    this.#journal = new Service(this.run, embedded.source(), (news) => this.#take(news));
    this.#journal.begin();
  }

  end(): void {
    this.#journal?.end();
  }

  readonly state = (): FeedState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The head and the newest rows, so that something is there before the journal is. */
  async #first(): Promise<void> {
    const summary = await ask<Summary>(`${runPath(this.run)}?output=none`);
    this.#pack = summary.pack;
    if (this.#state.loaded < summary.turns)
      this.#change({ summary, turns: summary.turns, visitCount: visitsIn(summary) });
    else this.#change({ summary: { ...(this.#state.summary ?? summary), pack: summary.pack } });
    const after = Math.max(0, summary.turns - TAIL_TURNS);
    const rows = await ask<readonly TraceRow[]>(
      `${runPath(this.run)}/trace?values=short&limit=${TAIL_ROWS * 2}&after=${after}`,
    );
    const first = visitsIn(summary) - rows.length;
    for (const [index, row] of rows.entries())
      if (!this.#visits.has(first + index)) this.#visits.set(first + index, narrow(row));
    this.#change({ visits: this.#visits });
  }

  #take(news: News): void {
    switch (news.kind) {
      case "visits":
        for (const [index, row] of news.rows.entries()) this.#visits.set(news.first + index, row);
        return;
      case "head": {
        const { summary, loaded, turns } = news;
        const isNewest = loaded >= turns;
        const pack = { ...summary.pack, ...this.#pack };
        const head = isNewest ? { summary: { ...summary, pack }, visitCount: visitsIn(summary) } : {};
        return this.#change({ loaded, turns: Math.max(turns, this.#state.turns), ...head });
      }
      case "live":
        return this.#change({ live: news.live });
      case "tokens": {
        const before = this.#state.tokens?.step === news.step ? this.#state.tokens.text : "";
        return this.#change({ tokens: { step: news.step, text: (before + news.text).slice(-8_000) } });
      }
      case "broken":
        return this.#change({ error: new Error(news.message) });
    }
  }

  #fail(error: unknown): void {
    this.#change({ error: error instanceof Error ? error : new Error(String(error)) });
  }

  #change(changes: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...changes };
    for (const listener of this.#listeners) listener();
  }
}

const visitsIn = ({ visits }: Summary): number =>
  Object.values(visits).reduce((sum, count) => sum + count, 0);

function narrow(row: TraceRow): VisitRow {
  const { turn, from, event, to, visit, cause, by, changed, used } = row;
  const cells = row.artifacts as Readonly<Record<string, string>>;
  const at = Date.parse(row.at);
  return {
    turn,
    from,
    event,
    to,
    visit,
    cause,
    redirectedFrom: row.redirected_from,
    by,
    cells,
    changed,
    used,
    at,
  };
}
