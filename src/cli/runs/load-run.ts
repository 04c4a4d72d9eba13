// A run as a command names it, read without touching it: folded at its last turn or at the turn given.

import type { RunRecord, Store } from "../../engine/ports.ts";
import { knownRecord, type LoadedRun, loadedRun } from "../../host/stored-runs.ts";
import { exits, usageError } from "../exit.ts";
import { note } from "../output.ts";
import { findRun } from "./run-id.ts";

/** `RUN` or `RUN@TURN`. */
export async function loadRun(store: Store, given: string): Promise<LoadedRun> {
  const { run: id, turn } = await findRun(store, given);
  return loadedRun(store, id, turn);
}

/** For commands about a run as a whole, where naming a turn is a mistake. */
export async function wholeRun(store: Store, given: string): Promise<RunRecord> {
  const { run: id, turn } = await findRun(store, given);
  if (turn !== undefined) throw usageError(`\`${given}\` names a turn (expected a whole run: \`${id}\`)`);
  return knownRecord(store, id);
}

/** The others are still listed, and the exit code says that they are not all. */
export function noteDamaged(run: string): void {
  note(`error: run \`${run}\` is damaged (see packloop verify ${run})`);
  process.exitCode = exits.findings;
}
