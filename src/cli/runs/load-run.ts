// A run as a command names it, read without touching it: folded at its last turn or at the turn given.

import { fold } from "../../core/apply.ts";
import type { TurnRow } from "../../core/facts.ts";
import type { Program } from "../../core/program.ts";
import type { Run } from "../../core/run.ts";
import type { RunRecord, Store } from "../../engine/ports.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { findRun } from "./run-id.ts";

/** Turns read at a time. */
const PAGE = 1_000;

export interface LoadedRun {
  readonly id: string;
  /** The turn that `run` is folded at. */
  readonly turn: number;
  readonly run: Run;
  readonly record: RunRecord;
}

/** `RUN` or `RUN@TURN`. A turn the run does not have is an error, not its nearest one. */
export async function loadRun(store: Store, given: string): Promise<LoadedRun> {
  const { run: id, turn: wanted } = await findRun(store, given);
  const record = known(id, await store.record(id));
  const turn = wanted ?? record.turn;
  if (turn < 1 || turn > record.turn)
    throw new ExitError(`run \`${id}\` has no turn ${turn} (it has 1 to ${record.turn})`, exits.notFound);
  return { id, turn, run: await runAt(store, id, turn), record };
}

/** For commands about a run as a whole, where naming a turn is a mistake. */
export async function wholeRun(store: Store, given: string): Promise<RunRecord> {
  const { run: id, turn } = await findRun(store, given);
  if (turn !== undefined) throw usageError(`\`${given}\` names a turn (expected a whole run: \`${id}\`)`);
  return known(id, await store.record(id));
}

export async function runAt(store: Store, id: string, turn: number): Promise<Run> {
  const stored = known(id, await store.loadAt(id, turn));
  return fold(stored.rows, stored.snapshot);
}

function known<T>(id: string, found: T | undefined): T {
  if (found !== undefined) return found;
  throw new ExitError(`run \`${id}\` does not exist (see packloop ls)`, exits.notFound);
}

/** Turns `from` to `to` page by page: a long run is never held whole. */
export async function* turnsOf(
  store: Store,
  id: string,
  { from, to }: { from: number; to: number },
): AsyncGenerator<TurnRow> {
  for (let first = from; first <= to; first += PAGE)
    yield* await store.rows(id, { from: first, to, limit: PAGE });
}

export async function storedProgram(store: Store, digest: string): Promise<Program> {
  const stored = await store.program(digest);
  if (stored === undefined)
    throw new ExitError(`the program \`${digest}\` of the run is not in the store`, exits.notFound);
  return stored.program as unknown as Program;
}

/** Every run that fits, newest first, however many there are. */
export async function* eachRecord(
  store: Store,
  filter: { readonly status?: readonly RunRecord["status"][] } = {},
): AsyncGenerator<RunRecord> {
  let before: string | undefined;
  for (;;) {
    const page = await store.list({ ...filter, limit: PAGE, ...(before !== undefined && { before }) });
    yield* page;
    before = page.at(-1)?.run;
    if (page.length < PAGE) return;
  }
}
