// A run's journal in memory: its turns, a folded run every few hundred of them, and its visits. Any turn is
// the fold from the nearest kept run on, by the same core that the engine folds with.

import { must } from "../../../src/base/assert.ts";
import { fold } from "../../../src/core/apply.ts";
import type { Fact, TurnRow } from "../../../src/core/facts.ts";
import { oneLineOf } from "../../../src/core/one-line.ts";
import { emptyRun, type Run } from "../../../src/core/run.ts";
import { type TraceRow, Tracer } from "../../../src/core/trace.ts";
import type { VisitRow } from "./journal-shapes.ts";
import { wayKey } from "./way-key.ts";

/** Turns between two kept runs: so many are folded at most to show one. */
const EVERY = 200;

export interface StepPlace {
  readonly asked: number;
  answered: number | null;
}

export class Journal {
  readonly #rows: TurnRow[] = [];
  readonly #kept: Run[] = [emptyRun];
  readonly #tracer = new Tracer();
  readonly #visits: VisitRow[] = [];
  /** By step, from 1. */
  readonly #steps: StepPlace[] = [];
  readonly #modelTurns: { readonly turn: number; readonly step: number }[] = [];
  readonly #writes = new Map<string, number[]>();
  #cells: Readonly<Record<string, string>> = {};
  /** How often each way was taken, after every so many visits. */
  readonly #ways: ReadonlyMap<string, number>[] = [new Map()];
  readonly #waysNow = new Map<string, number>();

  get turns(): number {
    return this.#rows.length;
  }

  get visits(): readonly VisitRow[] {
    return this.#visits;
  }

  /** Turns come in order; the visits that this one begins are given back. */
  add(row: TurnRow): readonly VisitRow[] {
    const begun = this.#tracer.take(row).map((trace) => this.#narrow(trace, row.at));
    this.#rows.push(row);
    for (const fact of row.facts) this.#note(fact, row.turn);
    if (row.turn % EVERY === 0) this.#kept.push(this.#tracer.run);
    for (const visit of begun) {
      this.#visits.push(visit);
      countWays(this.#waysNow, visit);
      if (this.#visits.length % EVERY === 0) this.#ways.push(new Map(this.#waysNow));
    }
    return begun;
  }

  get run(): Run {
    return this.#tracer.run;
  }

  row(turn: number): TurnRow {
    return must(this.#rows[turn - 1], "a turn that is shown is loaded");
  }

  rows(first: number, last: number): readonly TurnRow[] {
    return this.#rows.slice(first - 1, last);
  }

  /** After the turn; 0 is before everything. */
  runAt(turn: number): Run {
    const nearest = Math.min(Math.floor(turn / EVERY), this.#kept.length - 1);
    return fold(this.#rows.slice(nearest * EVERY, turn), this.#kept[nearest]);
  }

  /** Index of the visit that the turn belongs to; -1 before the first. */
  visitAt(turn: number): number {
    return lastAtOrBefore(this.#visits, turn);
  }

  /** The first and last turn of a visit. */
  span(visit: number): { readonly first: number; readonly last: number } {
    const first = visit < 0 ? 1 : (this.#visits[visit]?.turn ?? 1);
    const next = this.#visits[visit + 1]?.turn;
    return { first, last: next === undefined ? this.turns : Math.max(first, next - 1) };
  }

  step(step: number): StepPlace | undefined {
    return this.#steps[step - 1];
  }

  /** The model call asked last by the turn. */
  modelStepAt(turn: number): number | null {
    const index = lastAtOrBefore(this.#modelTurns, turn);
    return this.#modelTurns[index]?.step ?? null;
  }

  /** How often each way was taken up to a visit, that one included. */
  waysUpTo(visit: number): ReadonlyMap<string, number> {
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
      this.#steps[fact.step - 1] = { asked: turn, answered: null };
      if (fact.ask.kind === "model") this.#modelTurns.push({ turn, step: fact.step });
    } else if (fact.type === "answered") {
      const place = this.#steps[fact.step - 1];
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
      const entries = changed.map((name) => [name, oneLineOf(row.artifacts[name] ?? null)] as const);
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
