// Reads a run's journal from the server and answers questions about it. It runs in a worker, so that neither
// folding nor parsing ever holds up the page; an exported file runs it in the page itself.

import { must } from "../../../src/base/assert.ts";
import type { Json } from "../../../src/base/json.ts";
import type { TurnRow } from "../../../src/core/facts.ts";
import type { Program } from "../../../src/core/program.ts";
import { artifactValue } from "../../../src/core/run.ts";
import { textOf } from "./cut-text.ts";
import { Journal } from "./journal.ts";
import type { Moment, News, PackShape, Questions, StepView, ValueDiff, VisitRow } from "./journal-shapes.ts";
import { type Known, momentAt, summaryAt } from "./moment.ts";
import { shapeOf } from "./pack-shape.ts";
import { stepViewAt, wholePart } from "./step-view.ts";
import { valueDiff } from "./value-diff.ts";

/** Where turns and programs come from: the server, or the file that they are in. */
export interface Source {
  /** Gives every turn once and in order, until the signal; says how it stands meanwhile. */
  follow(told: Told, signal: AbortSignal): Promise<void>;
  program(digest: string): Promise<PackOf>;
}

export interface PackOf {
  readonly id: string;
  readonly version: string;
  readonly program: Program;
}

export interface Told {
  /** `turns` is how many there are, as far as is known. */
  rows(rows: readonly TurnRow[], turns: number): void;
  live(live: Extract<News, { kind: "live" }>["live"]): void;
  tokens(step: number, text: string): void;
}

export class JournalService implements Questions {
  readonly #id: string;
  readonly #source: Source;
  readonly #say: (news: News) => void;
  readonly #journal = new Journal();
  readonly #waiting = new Map<number, (() => void)[]>();
  readonly #packs = new Map<string, Promise<PackOf>>();
  readonly #stop = new AbortController();
  #pack: PackOf | undefined;
  #turns = 0;

  constructor(id: string, source: Source, say: (news: News) => void) {
    this.#id = id;
    this.#source = source;
    this.#say = say;
  }

  begin(): void {
    const told: Told = {
      rows: (rows, turns) => this.#take(rows, turns),
      live: (live) => this.#say({ kind: "live", live }),
      tokens: (step, text) => this.#say({ kind: "tokens", step, text }),
    };
    this.#source.follow(told, this.#stop.signal).catch((error: unknown) => {
      if (this.#stop.signal.aborted) return;
      this.#say({ kind: "broken", message: error instanceof Error ? error.message : String(error) });
    });
  }

  end(): void {
    this.#stop.abort();
  }

  async moment(turn: number): Promise<Moment> {
    const { journal, known } = await this.#at(turn);
    return momentAt(journal, known, turn);
  }

  async step(step: number, turn: number): Promise<StepView> {
    const { journal, known } = await this.#at(turn);
    return must(stepViewAt(journal, known, step, turn), "a step that is looked at was asked");
  }

  async artifact(name: string, turn: number): Promise<string> {
    const { journal } = await this.#at(turn);
    return textOf(valueAt(journal, name, turn));
  }

  async diff(name: string, turns: { readonly before: number; readonly after: number }): Promise<ValueDiff> {
    const { journal } = await this.#at(Math.max(turns.before, turns.after));
    return valueDiff(valueAt(journal, name, turns.before), valueAt(journal, name, turns.after));
  }

  async facts(turn: number): Promise<string> {
    const { journal } = await this.#at(turn);
    return textOf(journal.row(turn).facts as unknown as Json);
  }

  async whole(step: number, part: "args" | "result" | "request" | "response"): Promise<string> {
    const { journal, known } = await this.#at(this.#journal.turns);
    return wholePart(journal, known, step, part);
  }

  async shape(): Promise<PackShape> {
    const { known } = await this.#at(1);
    return shapeOf(must(known.program, "a run that began has a program"));
  }

  /** Waits until the turn is here, and its program. */
  async #at(turn: number): Promise<{ readonly journal: Journal; readonly known: Known }> {
    while (this.#journal.turns < Math.max(1, turn))
      await new Promise<void>((resolve) => {
        const list = this.#waiting.get(turn) ?? [];
        this.#waiting.set(turn, [...list, resolve]);
      });
    const { digest } = this.#journal.runAt(turn);
    this.#pack = await this.#packOf(digest);
    const { id, version, program } = this.#pack;
    return { journal: this.#journal, known: { id: this.#id, pack: { id, version }, program } };
  }

  #packOf(digest: string): Promise<PackOf> {
    const known = this.#packs.get(digest);
    if (known !== undefined) return known;
    const asked = this.#source.program(digest);
    this.#packs.set(digest, asked);
    // What could not be had is asked for again the next time.
    asked.catch(() => this.#packs.delete(digest));
    return asked;
  }

  #take(rows: readonly TurnRow[], turns: number): void {
    const first = this.#journal.visits.length;
    const begun: VisitRow[] = [];
    for (const row of rows) if (row.turn === this.#journal.turns + 1) begun.push(...this.#journal.add(row));
    this.#turns = Math.max(this.#turns, turns, this.#journal.turns);
    if (begun.length > 0) this.#say({ kind: "visits", first, rows: begun });
    this.#sayHead();
    for (const [turn, waiting] of this.#waiting) {
      if (turn > this.#journal.turns) continue;
      this.#waiting.delete(turn);
      for (const resolve of waiting) resolve();
    }
  }

  #sayHead(): void {
    const { run } = this.#journal;
    const pack = { id: this.#pack?.id ?? "", version: this.#pack?.version ?? "" };
    const summary = summaryAt({ id: this.#id, pack, program: undefined }, run);
    this.#say({ kind: "head", summary, loaded: this.#journal.turns, turns: this.#turns });
  }
}

function valueAt(journal: Journal, name: string, turn: number): Json | undefined {
  const { artifacts } = journal.runAt(turn);
  const found = Object.hasOwn(artifacts, name) ? artifacts[name] : undefined;
  return found === undefined ? undefined : artifactValue(found);
}
