// Follows a task through its journal: as a stream of updates, or until it rests.

import type { StreamResponse } from "@a2a-js/sdk";
import { applyTurn } from "../../core/apply.ts";
import { knownRecord, runAt } from "../../host/stored-runs.ts";
import type { Reader } from "../feed.ts";
import type { ServerParts } from "../server-parts.ts";
import { statusView } from "./task-status.ts";
import { statusText, statusUpdate, toldBy, updatesOf } from "./task-updates.ts";
import { placeOf, type SeenTask, type TaskShape, taskView } from "./task-view.ts";

/** Turns read at a time. */
const PAGE = 100;

export interface FollowTerms {
  readonly signal: AbortSignal;
  readonly shape: TaskShape;
  /** Ends where somebody is asked, not only where the task ends. */
  readonly untilAsked: boolean;
}

/** The task as it was seen, then what every turn after that changed, and what its agents ask meanwhile. */
export async function* taskStream(
  parts: ServerParts,
  seen: SeenTask,
  { signal, shape, untilAsked }: FollowTerms,
): AsyncGenerator<StreamResponse, void, undefined> {
  const { record } = seen;
  const place = placeOf(record);
  using watch = new Watch(parts, record.run, signal);
  let { run } = seen;
  const task: StreamResponse = { payload: { $case: "task", value: await taskView(parts, seen, shape) } };
  let told = toldBy(task);
  yield task;
  while (!watch.stopped) {
    // Asked for before looking: what comes while we look must not be missed.
    const changed = watch.next();
    const range = { from: run.turn + 1, to: Number.MAX_SAFE_INTEGER, limit: PAGE };
    const rows = await parts.store.rows(record.run, range);
    for (const row of rows) {
      const after = applyTurn(run, row);
      for (const update of await updatesOf(parts, { record, place, row, before: run, after })) {
        told = toldBy(update) ?? told;
        yield update;
      }
      run = after;
    }
    if (run.final !== null) return;
    if (rows.length > 0) continue;
    // An agent may ask for something else without a turn of its caller.
    const view = await statusView(parts, { record, run }, place);
    if (statusText(view) !== told) {
      told = statusText(view);
      yield statusUpdate(place, view);
    }
    // Only at the end of what there is: a question that was answered meanwhile is none.
    if (untilAsked && view.questions.length > 0) return;
    await changed;
  }
}

/** The task once it has ended or asks somebody, or as it stands when the signal ends the wait. */
export async function settledTask(
  parts: ServerParts,
  { id, signal }: { id: string; signal: AbortSignal },
): Promise<SeenTask> {
  using watch = new Watch(parts, id, signal);
  for (;;) {
    const changed = watch.next();
    const record = await knownRecord(parts.store, id);
    const seen = { record, run: await runAt(parts.store, id, record.turn) };
    if (seen.run.final !== null || watch.stopped) return seen;
    if ((await statusView(parts, seen, placeOf(record))).questions.length > 0) return seen;
    await changed;
  }
}

/** Wakes when the run or an agent's moves, and for good when the signal or the server says so. */
class Watch implements Disposable {
  readonly #reader: Reader<unknown>;
  readonly #signal: AbortSignal;
  readonly #stop = (): void => this.#reader.stop();

  constructor({ feed }: ServerParts, run: string, signal: AbortSignal) {
    this.#reader = feed.follow(run, { agents: true });
    this.#signal = signal;
    signal.addEventListener("abort", this.#stop);
    if (signal.aborted) this.#stop();
  }

  get stopped(): boolean {
    return this.#reader.stopped;
  }

  next(): Promise<void> {
    // Streamed text is of no interest here.
    this.#reader.take();
    return this.#reader.next();
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#stop);
    this.#reader.leave();
  }
}
