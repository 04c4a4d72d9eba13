// Reads a run's journal from the server and answers questions about it. It runs in a worker, so that neither
// folding nor parsing ever holds up the page; an exported file runs it in the page itself.

import { must } from "../../../src/base/assert.ts";
import type { Json } from "../../../src/base/json.ts";
import { kept } from "../../../src/base/kept.ts";
import type { TurnRow } from "../../../src/core/facts.ts";
import { artifactValue } from "../../../src/core/run.ts";
import { leftOutOf } from "../../../src/core/short-turn.ts";
import { budgetAt } from "./budget-view.ts";
import { textOf } from "./cut-text.ts";
import { Journal } from "./journal.ts";
import type {
  BudgetView,
  Moment,
  News,
  PackShape,
  Questions,
  StepView,
  ValueDiff,
  VisitRow,
  WholePart,
} from "./journal-shapes.ts";
import { type Known, momentAt, summaryAt } from "./moment.ts";
import { Nearby } from "./nearby.ts";
import { shapeOf } from "./pack-shape.ts";
import type { PackOf, Source, Told } from "./source.ts";
import { neededWhole, stepViewAt, wholePart } from "./step-view.ts";
import { valueDiff } from "./value-diff.ts";

/** While a long journal is read the page is told of it so often, and not of every piece. */
const TOLD_MS = 100;

/** The page reads each piece in one go. */
const ROWS_AT_ONCE = 500;

interface At {
  readonly journal: Journal;
  readonly known: Known;
}

export class JournalService implements Questions {
  readonly #id: string;
  readonly #source: Source;
  readonly #say: (news: News) => void;
  #journal = new Journal();
  readonly #nearby: Nearby;
  readonly #packs = new Map<string, Promise<PackOf>>();
  readonly #stop = new AbortController();
  /** Turns that were fetched with everything in them. */
  readonly #restored = new Set<number>();
  #waiting: { readonly turn: number; readonly resolve: () => void }[] = [];
  #pack: PackOf | undefined;
  #turns = 0;
  /** Visits that the page knows of. */
  #told = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string, source: Source, say: (news: News) => void) {
    this.#id = id;
    this.#source = source;
    this.#say = say;
    this.#nearby = new Nearby(
      (turn) => source.around?.(turn),
      (near) => this.#sayVisits(near, 0),
    );
  }

  /** What is around the turn that is shown comes first; all the others come after it. */
  begin(turn?: number): void {
    const told: Told = {
      rows: (rows, turns) => this.#take(rows, turns),
      live: (live) => this.#say({ kind: "live", live }),
      tokens: (step, text) => this.#say({ kind: "tokens", step, text }),
    };
    const { signal } = this.#stop;
    this.#first(turn)
      .then(() => this.#source.follow(told, signal))
      .catch((error: unknown) => {
        if (signal.aborted) return;
        this.#say({ kind: "broken", message: error instanceof Error ? error.message : String(error) });
      });
  }

  /** With the program, so that nothing else stands in the way of what is shown first. */
  async #first(turn: number | undefined): Promise<void> {
    const near = await this.#nearby.fetch(turn);
    if (near !== undefined) await this.#packOf(near.run.digest).catch(() => undefined);
  }

  end(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
  }

  async moment(turn: number): Promise<Moment> {
    const { journal, known } = await this.#at(turn);
    return momentAt(journal, known, turn);
  }

  async step(step: number, turn: number, detail?: "brief"): Promise<StepView> {
    const viewed = ({ journal, known }: At) =>
      stepViewAt(journal, known, { step, turn, isBrief: detail === "brief" });
    const near = await this.#at(turn);
    const first = must(viewed(near), "a step that is looked at was asked");
    if (first.request === null) return first;
    const whole = await this.#whole(turn, ({ journal }) => neededWhole(journal, first));
    return whole.journal === near.journal ? first : must(viewed(whole), "a step that was asked stays asked");
  }

  async artifact(name: string, turn: number): Promise<string> {
    return textOf(await this.#valueAt(name, turn));
  }

  async diff(name: string, turns: { readonly before: number; readonly after: number }): Promise<ValueDiff> {
    return valueDiff(await this.#valueAt(name, turns.before), await this.#valueAt(name, turns.after));
  }

  facts(turn: number): Promise<string> {
    return this.#wholeText(turn, ({ journal }) => textOf(journal.row(turn).facts as unknown as Json));
  }

  input(turn: number): Promise<string> {
    return this.#wholeText(turn, ({ journal }) => journal.runAt(turn).input);
  }

  variable(name: string, turn: number): Promise<string> {
    return this.#wholeText(turn, ({ journal }) => {
      const { variables } = journal.runAt(turn);
      return textOf(Object.hasOwn(variables, name) ? variables[name] : undefined);
    });
  }

  async whole(step: number, part: WholePart): Promise<string> {
    const near = this.#journal.step(step) === undefined ? this.#nearby.withStep(step) : undefined;
    const { turns } = near ?? this.#journal;
    const textAt = ({ journal, known }: At) => wholePart(journal, known, step, part);
    return textAt(await this.#whole(turns, textAt, near));
  }

  async shape(digest: string): Promise<PackShape> {
    return shapeOf((await this.#packOf(digest)).program);
  }

  async budget(turn: number): Promise<BudgetView> {
    return budgetAt(await this.#read(Math.max(1, turn)), turn);
  }

  async visits(first: number, most: number): Promise<readonly VisitRow[]> {
    if (this.#source.visits !== undefined && this.#journal.visitCount < first + most)
      return this.#source.visits(first, most);
    return this.#journal.visitsFrom(first).rows.slice(0, most);
  }

  /** Undefined before the first turn, and for an artifact that is not there. */
  async #valueAt(name: string, turn: number): Promise<Json | undefined> {
    if (turn < 1) return undefined;
    const valueIn = ({ journal }: At): Json | undefined => {
      const { artifacts } = journal.runAt(turn);
      const found = Object.hasOwn(artifacts, name) ? artifacts[name] : undefined;
      return found === undefined ? undefined : artifactValue(found);
    };
    return valueIn(await this.#whole(turn, (at) => textOf(valueIn(at))));
  }

  async #wholeText(turn: number, textAt: (at: At) => string): Promise<string> {
    return textAt(await this.#whole(turn, textAt));
  }

  /** A journal in which nothing is left out of this text, the `first` if it will do: what is, is fetched. */
  async #whole(turn: number, textAt: (at: At) => string, first?: Journal): Promise<At> {
    const near = first === undefined ? await this.#at(turn) : await this.#known(first, turn);
    if (leftOutOf(textAt(near)).length === 0) return near;
    for (;;) {
      const at = await this.#known(await this.#read(Math.max(1, turn)), Math.max(1, turn));
      // Something was fetched meanwhile: what is left out is told by the newest journal only.
      if (at.journal !== this.#journal) continue;
      const turns = new Set(leftOutOf(textAt(at)).map((one) => one.turn));
      // A text may look as if something were left out of it.
      const missing = [...turns].filter((one) => this.#journal.has(one) && !this.#restored.has(one));
      if (missing.length === 0) return at;
      await this.#restore(missing);
    }
  }

  async #restore(turns: readonly number[]): Promise<void> {
    const rows = new Map<number, TurnRow>();
    for (const turn of turns) {
      const row = await this.#source.row?.(turn);
      if (row !== undefined) rows.set(turn, row);
    }
    this.#journal = this.#journal.withRows(rows);
    for (const turn of turns) this.#restored.add(turn);
  }

  /** A journal that has the turn: the whole one as soon as it does, and before that one around the turn. */
  async #at(turn: number): Promise<At> {
    const wanted = Math.max(1, turn);
    if (this.#journal.has(wanted)) return this.#known(this.#journal, wanted);
    const journal = await Promise.race([this.#read(wanted), this.#near(wanted)]);
    return this.#known(journal, wanted);
  }

  async #known(journal: Journal, turn: number): Promise<At> {
    this.#pack = await this.#packOf(journal.runAt(turn).digest);
    const { id, version, program } = this.#pack;
    return { journal, known: { id: this.#id, pack: { id, version }, program } };
  }

  /** What is not near, or could not be fetched, is waited for. */
  async #near(turn: number): Promise<Journal> {
    const near = await this.#nearby.at(turn);
    return near ?? this.#read(turn);
  }

  async #read(turn: number): Promise<Journal> {
    if (!this.#journal.has(turn)) await new Promise<void>((resolve) => this.#waiting.push({ turn, resolve }));
    return this.#journal;
  }

  #packOf(digest: string): Promise<PackOf> {
    const asked = kept(this.#packs, digest, () => this.#source.program(digest));
    // What could not be had is asked for again the next time.
    asked.catch(() => this.#packs.delete(digest));
    return asked;
  }

  #take(rows: readonly TurnRow[], turns: number): void {
    for (const row of rows) if (row.turn === this.#journal.turns + 1) this.#journal.add(row);
    this.#turns = Math.max(this.#turns, turns, this.#journal.turns);
    const here = this.#waiting.filter(({ turn }) => this.#journal.has(turn));
    this.#waiting = this.#waiting.filter(({ turn }) => !this.#journal.has(turn));
    for (const { resolve } of here) resolve();
    if (this.#journal.turns >= this.#turns) this.#tell();
    else this.#timer ??= setTimeout(() => this.#tell(), TOLD_MS);
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#told = this.#sayVisits(this.#journal, this.#told);
    const { run, turns } = this.#journal;
    const pack = { id: this.#pack?.id ?? "", version: this.#pack?.version ?? "" };
    const summary = summaryAt({ id: this.#id, pack, program: undefined }, run);
    this.#say({ kind: "head", summary, loaded: turns, turns: this.#turns });
  }

  #sayVisits(journal: Journal, from: number): number {
    const { first, rows } = journal.visitsFrom(from);
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
      this.#say({ kind: "visits", first: first + at, rows: rows.slice(at, at + ROWS_AT_ONCE) });
    return first + rows.length;
  }
}
