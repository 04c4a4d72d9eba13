// One run as the page sees it: what the server said first, then what the journal folds to, as it grows.

import type { Summary } from "../../../src/core/summary.ts";
import { ask, runPath } from "../api.ts";
import { type Embedded, embeddedRun } from "../export/embedded-run.ts";
import type { Live, News, Questions, VisitRow } from "./journal-shapes.ts";
import { visitRows } from "./visit-rows.ts";
import { visitsIn } from "./visits-in.ts";
import { type Journaled, workerJournal } from "./worker-journal.ts";

export interface FeedState {
  readonly summary: Summary | undefined;
  /** Rows by their place; those not loaded yet are missing. */
  readonly visits: ReadonlyMap<number, VisitRow>;
  readonly visitCount: number;
  /** Grows when rows have come. */
  readonly rows: number;
  readonly loaded: number;
  readonly turns: number;
  readonly live: Live;
  readonly tokens: { readonly step: number; readonly text: string } | undefined;
  readonly error: Error | undefined;
}

/** Rows asked for at a time. */
const PAGE = 500;
/** Rows that a screen shows at most. */
const SCREEN = 60;

/** What is scrolled past in less is not asked for. */
const REST_MS = 60;

export class RunFeed {
  readonly run: string;
  readonly #visits = new Map<number, VisitRow>();
  readonly #listeners = new Set<() => void>();
  #journal: Journaled | undefined;
  #state: FeedState;
  #pack: Pick<Summary["pack"], "id" | "version"> | undefined;
  /** Pages of rows that are on their way. */
  readonly #asked = new Set<number>();
  #wanted: { readonly first: number; readonly last: number } | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #frame: number | undefined;

  constructor(run: string) {
    this.run = run;
    this.#state = {
      summary: undefined,
      visits: this.#visits,
      visitCount: 0,
      rows: 0,
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

  /** The turn that is looked at first; the newest one if none is given. */
  begin(turn?: number): void {
    const embedded = embeddedRun();
    if (embedded !== undefined) {
      this.#beginEmbedded(embedded).catch((error: unknown) => this.#fail(error));
      return;
    }
    this.#journal = workerJournal(this.run, (news) => this.#take(news));
    this.#journal.begin(turn);
    this.#first(turn === undefined).catch((error: unknown) => this.#fail(error));
  }

  /** Only a file folds in the page itself, so only there what folds is part of it. */
  async #beginEmbedded(embedded: Embedded): Promise<void> {
    const Service = (await import("./journal-service.ts")).JournalService;
    this.#journal = new Service(this.run, embedded.source(this.run), (news) => this.#take(news));
    this.#journal.begin();
  }

  end(): void {
    this.#journal?.end();
    clearTimeout(this.#rest);
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
  }

  /** Rows that are on the screen: those that have not come yet are asked for. */
  readonly want = (first: number, last: number): void => {
    this.#wanted = { first, last };
    this.#rest ??= setTimeout(() => {
      this.#rest = undefined;
      for (const page of this.#missing()) void this.#loadRows(page);
    }, REST_MS);
  };

  #missing(): ReadonlySet<number> {
    const { first, last } = this.#wanted ?? { first: 0, last: -1 };
    const pages = new Set<number>();
    for (let place = first; place <= last; place++) {
      const page = Math.floor(place / PAGE);
      if (!this.#visits.has(place) && !this.#asked.has(page)) pages.add(page);
    }
    return pages;
  }

  /** What could not be had comes with the journal, or is wanted again. */
  async #loadRows(page: number): Promise<void> {
    this.#asked.add(page);
    const first = page * PAGE;
    this.#put(first, await this.questions.visits(first, PAGE).catch(() => []));
    this.#asked.delete(page);
  }

  #put(first: number, rows: readonly VisitRow[]): void {
    for (const [index, row] of rows.entries())
      if (!this.#visits.has(first + index)) this.#visits.set(first + index, row);
    this.#change({ rows: this.#state.rows + 1 });
  }

  readonly state = (): FeedState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The head and a screen of the newest rows: they are there before the worker is. */
  async #first(isNewest: boolean): Promise<void> {
    const summary = await ask<Summary>(`${runPath(this.run)}?output=none`);
    this.#pack = summary.pack;
    if (this.#state.loaded < summary.turns)
      this.#change({ summary, turns: summary.turns, visitCount: visitsIn(summary.visits) });
    else this.#change({ summary: { ...(this.#state.summary ?? summary), pack: summary.pack } });
    const first = Math.max(0, visitsIn(summary.visits) - SCREEN);
    if (isNewest) this.#put(first, await visitRows(this.run, { first, most: SCREEN }));
  }

  #take(news: News): void {
    switch (news.kind) {
      case "visits":
        for (const [index, row] of news.rows.entries()) this.#visits.set(news.first + index, row);
        return this.#change({ rows: this.#state.rows + 1 });
      case "head": {
        const { summary, loaded, turns } = news;
        const isNewest = loaded >= turns;
        const pack = { ...summary.pack, ...this.#pack };
        const head = isNewest ? { summary: { ...summary, pack }, visitCount: visitsIn(summary.visits) } : {};
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

  /** However much is new, the page is told of it once for each frame. */
  #change(changes: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...changes };
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      for (const listener of this.#listeners) listener();
    });
  }
}
