// How much is wanted from outside, by kind. Counted turn by turn over what the turns of this process opened
// and closed, without a note of any run: a hundred thousand waiting ones must cost no memory.

import type { Ask } from "../core/facts.ts";
import type { Run } from "../core/run.ts";
import { METRICS } from "./metric-list.ts";
import type { MetricRegistry } from "./metric-registry.ts";
import { OWN } from "./names.ts";

export class OpenAsks {
  /** Runs whose last turn is older were left by another process: what they had open was never counted. */
  began = 0;
  readonly #metrics: MetricRegistry;

  constructor(metrics: MetricRegistry) {
    this.#metrics = metrics;
  }

  moved({ before, after }: { readonly before: Run | undefined; readonly after: Run }): void {
    const changes = new Map<Ask["kind"], number>();
    const add = (run: Run, sign: number) => {
      for (const step in run.open) {
        const kind = run.open[step]?.ask.kind;
        if (kind !== undefined) changes.set(kind, (changes.get(kind) ?? 0) + sign);
      }
    };
    if (before !== undefined && before.now >= this.began) add(before, -1);
    add(after, 1);
    for (const [kind, change] of changes)
      if (change !== 0) this.#metrics.add(METRICS.openAsks, change, { [OWN.kind]: kind });
  }
}
