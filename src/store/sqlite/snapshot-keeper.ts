// Decides on the side of those who commit which turn brings a snapshot, and what of its logs is stored
// already.

import type { Log } from "../../base/log.ts";
import type { Run } from "../../core/run.ts";
import { type LogRef, type LogWrite, logsOf, type SnapshotWrite, withoutLogs } from "../journal/snapshot.ts";
import type { TurnReply } from "./requests.ts";

/** Runs remembered for their next turn. One that is forgotten is named again by a later turn or load. */
const RUNS_MAX = 10_000;

interface Known {
  readonly run: string;
  readonly log: number;
  readonly length: number;
}

export class SnapshotKeeper {
  /** Runs whose next turn brings a snapshot. */
  readonly #due = new Map<string, true>();
  /** Runs whose snapshot was too large, and its bytes: tried again when as many bytes of turns wait. */
  readonly #large = new Map<string, number>();
  /**
   * Which stored log the cells of a run in memory came from. Cells are only ever appended to, so the same
   * array means the same beginning; a conversation that was cleared has another array and is written whole.
   */
  readonly #known = new WeakMap<readonly unknown[], Known>();

  /** The snapshot that the next turn of the run should bring, if any. */
  take(run: string, after: Run): SnapshotWrite | undefined {
    if (!this.#due.delete(run)) return undefined;
    const logs = logsOf(after).map((log) => this.#write(run, log));
    return { data: JSON.stringify(withoutLogs(after)), logs };
  }

  /** What became of a turn. */
  heard(run: string, after: Run, { overdue, snapshot }: TurnReply): void {
    if (snapshot?.kind === "written") this.#know(run, after, snapshot.logs);
    if (snapshot?.kind === "stale") for (const { cells } of logsOf(after)) this.#known.delete(cells);
    if (snapshot?.kind === "large") remember(this.#large, run, snapshot.bytes);
    else if (snapshot !== undefined) this.#large.delete(run);
    this.#consider(run, overdue);
  }

  loaded(run: string, found: { snapshot: Run | undefined; refs: readonly LogRef[]; overdue: number }): void {
    const numbers = found.refs.map(([log]) => log);
    if (found.snapshot !== undefined) this.#know(run, found.snapshot, numbers);
    this.#consider(run, found.overdue);
  }

  #consider(run: string, overdue: number): void {
    if (overdue > (this.#large.get(run) ?? 0)) remember(this.#due, run, true);
  }

  #know(run: string, folded: Run, numbers: readonly number[]): void {
    for (const [index, { cells, length }] of logsOf(folded).entries()) {
      this.#known.set(cells, { run, log: numbers[index] ?? 0, length });
    }
  }

  #write(run: string, log: Log<unknown>): LogWrite {
    const known = this.#known.get(log.cells);
    // Only the run that began a log continues it: its forks share what was there when they were made.
    const fits = known !== undefined && known.run === run && known.log > 0 && known.length <= log.length;
    const start = fits ? known.length : 0;
    return {
      log: fits ? known.log : 0,
      start,
      length: log.length,
      items: JSON.stringify(log.cells.slice(start, log.length)),
    };
  }
}

function remember<T>(map: Map<string, T>, run: string, value: T): void {
  map.set(run, value);
  const [oldest] = map.keys();
  if (map.size > RUNS_MAX && oldest !== undefined) map.delete(oldest);
}
