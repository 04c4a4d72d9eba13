// Takes up what other processes left: everything with work when the server starts, and later the runs whose
// time has come. Nothing is repaired; the open asks are performed.

import type { Logger } from "pino";
import { missingKey, RUNTIME } from "../core/missing-key.ts";
import type { Engine } from "../engine/engine.ts";
import type { Clock, Store } from "../engine/ports.ts";
import { eachRecord, loadedRun } from "../host/stored-runs.ts";

/** Runs taken up at once; each may wait for its tools to answer. */
const AT_ONCE = 16;

/** How often the store is asked for the next time at least. */
const LOOK_MS = 15_000;

/** And at most: a run that cannot be taken up must not keep the server busy. */
const PAUSE_MS = 1_000;

export interface RecoveryOptions {
  readonly engine: Engine;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How many runs were taken up. */
export async function recoverAll({ engine, store, clock, log }: RecoveryOptions): Promise<number> {
  const ids = [...(await store.runnable(clock.now(), Number.MAX_SAFE_INTEGER))];
  const count = ids.length;
  const takeUp = async (): Promise<void> => {
    for (let id = ids.shift(); id !== undefined; id = ids.shift()) await resumed(engine, id, log);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, takeUp));
  return count;
}

/** One that cannot be taken up stays as it is; the others are served. */
async function resumed(engine: Engine, id: string, log: Logger): Promise<void> {
  try {
    await engine.resume(id);
  } catch (error) {
    log.error({ run: id, err: error }, "the run could not be taken up");
  }
}

/** A run that came from elsewhere. Who brought it does not wait for what it does. */
export function takeUp({ engine, log }: Pick<RecoveryOptions, "engine" | "log">, id: string): void {
  resumed(engine, id, log).catch((error: unknown) => log.error({ run: id, err: error }, "not taken up"));
}

/** Runs that are held for want of a key: this process may have one. Who still lacks it is held again. */
export async function letGoForKeys(options: RecoveryOptions, signal: AbortSignal): Promise<void> {
  const { engine, store, clock, log } = options;
  const waiting = eachRecord(store, { status: ["waiting"] }, () => undefined);
  for await (const { run: id, held } of waiting) {
    if (signal.aborted) return;
    if (!held) continue;
    try {
      const { run } = await loadedRun(store, id);
      // At the very turn that was looked at: somebody may hold it meanwhile for another reason.
      if (missingKey(run) !== undefined)
        await engine.submit(id, { type: "unpause", at: clock.now(), by: RUNTIME }, { ifTurn: run.turn });
    } catch (error) {
      log.error({ run: id, err: error }, "the run could not be let go");
    }
  }
}

/** Until aborted. Timers of runs that moved in this process are armed already; those of others are here. */
export async function watchTimers(options: RecoveryOptions, signal: AbortSignal): Promise<void> {
  const { engine, store, clock, log } = options;
  while (!signal.aborted) {
    const next = await store.nextDue();
    const wait = next === undefined ? LOOK_MS : Math.min(LOOK_MS, Math.max(0, next - clock.now()));
    await clock.sleep(wait, signal);
    if (signal.aborted) return;
    const due = await dueRuns(store, clock.now());
    for (const id of due) await resumed(engine, id, log);
    if (due.length > 0) await clock.sleep(PAUSE_MS, signal);
  }
}

async function dueRuns(store: Store, now: number): Promise<readonly string[]> {
  if (((await store.nextDue()) ?? Number.POSITIVE_INFINITY) > now) return [];
  const due: string[] = [];
  for (const id of await store.runnable(now, Number.MAX_SAFE_INTEGER)) {
    const record = await store.record(id);
    if (record !== undefined && record.due !== null && record.due <= now) due.push(id);
  }
  return due;
}
