// How much is wanted from outside, by kind. Counted turn by turn over what the turns of this process opened
// and closed, without a note of any run: a hundred thousand waiting ones must cost no memory. Where processes
// share a store, what one opened another may close; so each counts the runs that are at work in it alone.

import type { Ask } from "../core/facts.ts";
import { isAtWork, type Run } from "../core/run.ts";
import { METRICS } from "./metric-list.ts";
import type { MetricRegistry } from "./metric-registry.ts";
import { OWN } from "./names.ts";

export class OpenAsks {
  /** Runs whose last turn is older were left by another process: what they had open was never counted. */
  #began = 0;
  /** Of a shared store: the runs at work here, as they were counted. */
  #here: Map<string, Run> | undefined;
  readonly #metrics: MetricRegistry;

  constructor(metrics: MetricRegistry) {
    this.#metrics = metrics;
  }

  begin(at: number, isShared: boolean): void {
    this.#began = at;
    this.#here = isShared ? new Map() : undefined;
  }

  moved(turn: { readonly id: string; readonly before: Run | undefined; readonly after: Run }): void {
    const { id, before, after } = turn;
    if (this.#here !== undefined) return this.took(id, after);
    this.#count(before !== undefined && before.now >= this.#began ? before : undefined, after);
  }

  /** This process has the run now, as it is. */
  took(id: string, run: Run): void {
    if (this.#here === undefined) return;
    if (run.final !== null || !isAtWork(run)) return this.left(id);
    this.#count(this.#here.get(id), run);
    this.#here.set(id, run);
  }

  left(id: string): void {
    this.#count(this.#here?.get(id), undefined);
    this.#here?.delete(id);
  }

  #count(before: Run | undefined, after: Run | undefined): void {
    const changes = new Map<Ask["kind"], number>();
    const add = ({ open }: Pick<Run, "open">, sign: number) => {
      for (const step in open) {
        const kind = open[step]?.ask.kind;
        if (kind !== undefined) changes.set(kind, (changes.get(kind) ?? 0) + sign);
      }
    };
    if (before !== undefined) add(before, -1);
    if (after !== undefined) add(after, 1);
    for (const [kind, change] of changes)
      if (change !== 0) this.#metrics.add(METRICS.openAsks, change, { [OWN.kind]: kind });
  }
}
