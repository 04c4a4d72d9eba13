// A run's journal in memory: its turns, a folded run every few hundred of them, and its visits. Any turn is
// the fold from the nearest kept run on, by the same core that the engine folds with. It begins with the
// first turn, or with a folded run that stands for those before.

import { must } from "../../../src/base/assert.ts";
import { fold } from "../../../src/core/apply.ts";
import type { Fact, TurnRow } from "../../../src/core/facts.ts";
import { artifactValue, emptyRun, type Run } from "../../../src/core/run.ts";
import { type TraceRow, Tracer } from "../../../src/core/trace.ts";
import { cutLine } from "./cut-text.ts";
import type { VisitRow } from "./journal-shapes.ts";
import { visitsIn } from "./visits-in.ts";
import { wayKey } from "./way-key.ts";

/** Turns between two kept runs: so many are folded at most to show one. */
const EVERY = 200;

export interface StepPlace {
  readonly asked: number;
  answered: number | null;
}

export class Journal {
  /** What stands for the turns that are not here. */
  readonly #base: Run;
  readonly #rows: TurnRow[] = [];
  readonly #kept: Run[];
  readonly #tracer: Tracer;
  readonly #visits: VisitRow[] = [];
  /** Visits that began before the first turn that is here. */
  readonly #visitsBefore: number;
  /** By step, from the first one asked here. */
  readonly #steps: StepPlace[] = [];
  readonly #modelTurns: { readonly turn: number; readonly step: number }[] = [];
  readonly #writes = new Map<string, number[]>();
  #cells: Readonly<Record<string, string>>;
  /** How often each way was taken, after every so many visits. */
  readonly #ways: ReadonlyMap<string, number>[] = [new Map()];
  readonly #waysNow = new Map<string, number>();

  constructor(base: Run = emptyRun) {
    this.#base = base;
    this.#kept = [base];
    this.#tracer = new Tracer(base);
    this.#visitsBefore = visitsIn(base.visits);
    const artifacts = Object.entries(base.artifacts);
    this.#cells = Object.fromEntries(artifacts.map(([name, one]) => [name, cutLine(artifactValue(one))]));
  }

  /** The last turn that is here. */
  get turns(): number {
    return this.#base.turn + this.#rows.length;
  }

  /** Whether it has every turn up to its last. */
  get isWhole(): boolean {
    return this.#base.turn === 0;
  }

  has(turn: number): boolean {
    return turn > this.#base.turn && turn <= this.turns;
  }

  /** How many visits there were up to the last turn. */
  get visitCount(): number {
    return this.#visitsBefore + this.#visits.length;
  }

  /** Rows from a place on. What was written before the first turn here is not known to the first of them. */
  visitsFrom(place: number): { readonly first: number; readonly rows: readonly VisitRow[] } {
    const least = this.#visitsBefore + (this.isWhole ? 0 : 1);
    const first = Math.max(place, least);
    return { first, rows: this.#visits.slice(first - this.#visitsBefore) };
  }

  /** Turns come in order. */
  add(row: TurnRow): void {
    const begun = this.#tracer.take(row).map((trace) => this.#narrow(trace, row.at));
    this.#rows.push(row);
    for (const fact of row.facts) this.#note(fact, row.turn);
    if (this.#rows.length % EVERY === 0) this.#kept.push(this.#tracer.run);
    for (const visit of begun) {
      this.#visits.push(visit);
      countWays(this.#waysNow, visit);
      if (this.#visits.length % EVERY === 0) this.#ways.push(new Map(this.#waysNow));
    }
  }

  /** The same with other rows for some of its turns. */
  withRows(others: ReadonlyMap<number, TurnRow>): Journal {
    const journal = new Journal(this.#base);
    for (const row of this.#rows) journal.add(others.get(row.turn) ?? row);
    return journal;
  }

  get run(): Run {
    return this.#tracer.run;
  }

  row(turn: number): TurnRow {
    return must(this.#rows[turn - this.#base.turn - 1], "a turn that is shown is loaded");
  }

  rows(first: number, last: number): readonly TurnRow[] {
    const { turn } = this.#base;
    return this.#rows.slice(Math.max(0, first - 1 - turn), Math.max(0, last - turn));
  }

  /** After the turn; 0 is before everything. */
  runAt(turn: number): Run {
    const place = turn - this.#base.turn;
    const nearest = Math.min(Math.floor(place / EVERY), this.#kept.length - 1);
    return fold(this.#rows.slice(nearest * EVERY, place), this.#kept[nearest]);
  }

  /** Index of the visit that the turn belongs to; -1 before the first. */
  visitAt(turn: number): number {
    return this.#visitsBefore + lastAtOrBefore(this.#visits, turn);
  }

  /** The first and last turn of a visit, as far as they are here. */
  span(visit: number): { readonly first: number; readonly last: number } {
    const place = visit - this.#visitsBefore;
    const first = this.#visits[place]?.turn ?? this.#base.turn + 1;
    const next = this.#visits[place + 1]?.turn;
    return { first, last: next === undefined ? this.turns : Math.max(first, next - 1) };
  }

  step(step: number): StepPlace | undefined {
    return this.#steps[step - this.#base.step - 1];
  }

  /** The model call asked last by the turn. */
  modelStepAt(turn: number): number | null {
    const index = lastAtOrBefore(this.#modelTurns, turn);
    return this.#modelTurns[index]?.step ?? null;
  }

  /** How often each way was taken up to a visit, that one included; only the whole journal knows. */
  waysUpTo(visit: number): ReadonlyMap<string, number> {
    if (!this.isWhole) return new Map();
    const nearest = Math.min(Math.floor((visit + 1) / EVERY), this.#ways.length - 1);
    const ways = new Map(this.#ways[nearest]);
    for (const one of this.#visits.slice(nearest * EVERY, visit + 1)) countWays(ways, one);
    return ways;
  }

  /** The turns that wrote an artifact, up to this one. */
  writesOf(name: string, turn: number): readonly number[] {
    return (this.#writes.get(name) ?? []).filter((one) => one <= turn);
  }

  #note(fact: Fact, turn: number): void {
    if (fact.type === "asked") {
      this.#steps[fact.step - this.#base.step - 1] = { asked: turn, answered: null };
      if (fact.ask.kind === "model") this.#modelTurns.push({ turn, step: fact.step });
    } else if (fact.type === "answered") {
      const place = this.step(fact.step);
      if (place !== undefined) place.answered = turn;
    } else if (fact.type === "wrote") {
      const turns = this.#writes.get(fact.artifact);
      if (turns === undefined) this.#writes.set(fact.artifact, [turn]);
      else if (turns.at(-1) !== turn) turns.push(turn);
    }
  }

  #narrow(row: TraceRow, at: number): VisitRow {
    const { turn, from, event, to, visit, cause, by, changed, used } = row;
    if (changed.length > 0) {
      const entries = changed.map((name) => [name, cutLine(row.artifacts[name] ?? null)] as const);
      this.#cells = Object.fromEntries([...Object.entries(this.#cells), ...entries]);
    }
    const cells = this.#cells;
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
}

function countWays(ways: Map<string, number>, { from, to, redirectedFrom }: VisitRow): void {
  if (from === null) return;
  const stops = [...redirectedFrom, to];
  for (const [hop, stop] of stops.entries()) {
    const key = wayKey(hop === 0 ? from : (stops[hop - 1] as string), stop, hop > 0);
    ways.set(key, (ways.get(key) ?? 0) + 1);
  }
}

/** Index of the last item of an ordered list whose turn is not after this one; -1 for none. */
function lastAtOrBefore(items: readonly { readonly turn: number }[], turn: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((items[middle] as { turn: number }).turn <= turn) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
