// Measures how long the runs of a dead worker have nobody: from its death until another has them.

import { setTimeout as wait } from "node:timers/promises";
import { Pool } from "pg";

const LOOK_MS = 25;

interface Held {
  readonly run: string;
  readonly driver: string;
}

export class Takeovers implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #took: number[] = [];
  readonly #watching = new Set<Promise<void>>();
  #closed = false;

  constructor(url: string) {
    this.#pool = new Pool({ connectionString: url, max: 2 });
    // Connections are cut on purpose; the next look makes a new one.
    this.#pool.on("error", () => undefined);
  }

  /** Runs of the worker that want something done. */
  async heldBy(pid: number): Promise<readonly Held[]> {
    for (;;) {
      try {
        const { rows } = await this.#pool.query<Held>(
          "SELECT run, driver FROM packloop.head WHERE work AND driver LIKE '%-' || $1 || '-%'",
          [pid],
        );
        return rows;
      } catch {
        // The connection was cut with all the others.
        await wait(LOOK_MS);
      }
    }
  }

  /** Each is taken up by somebody else, or the test does not end. */
  died(held: readonly Held[]): void {
    const since = performance.now();
    const watch = async () => {
      for (let left = held; left.length > 0 && !this.#closed; await wait(LOOK_MS)) {
        const free = await this.#stillOf(left);
        const taken = left.filter(({ run }) => !free.has(run));
        for (const _run of taken) this.#took.push(performance.now() - since);
        left = left.filter(({ run }) => free.has(run));
      }
    };
    const done = watch().finally(() => this.#watching.delete(done));
    this.#watching.add(done);
  }

  async #stillOf(held: readonly Held[]): Promise<ReadonlySet<string>> {
    try {
      const { rows } = await this.#pool.query<{ run: string }>(
        `SELECT h.run FROM packloop.head h JOIN unnest($1::bigint[], $2::text[]) AS d(run, driver) USING (run)
          WHERE h.work AND (h.driver = d.driver OR h.driver IS NULL)`,
        [held.map(({ run }) => run), held.map(({ driver }) => driver)],
      );
      return new Set(rows.map(({ run }) => run));
    } catch {
      // The server is away: nothing has changed as far as can be known.
      return new Set(held.map(({ run }) => run));
    }
  }

  /** The distribution in milliseconds. */
  text(): string {
    const sorted = this.#took.toSorted((a, b) => a - b);
    const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN);
    return `${sorted.length}: median ${at(0.5)} ms, 90 % ${at(0.9)} ms, longest ${at(1)} ms`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#watching);
    await this.#pool.end();
  }
}
