// Decides every turn of a run again from what was recorded and names the first difference (S53).

import { applyTurn } from "../core/apply.ts";
import type { Program } from "../core/program.ts";
import { digestFor, type ReplayDifference, replayTurn } from "../core/replay.ts";
import { emptyRun } from "../core/run.ts";
import type { Store } from "../engine/ports.ts";
import { type LoadedRun, storedProgram, turnsOf } from "./stored-runs.ts";

export interface Replayed {
  readonly run: string;
  readonly same: boolean;
  readonly turns: number;
  readonly first_difference: ReplayDifference | null;
}

export async function replayRun(store: Store, { id, turn }: LoadedRun): Promise<Replayed> {
  const first = (await firstDifference(store, id, turn)) ?? null;
  return { run: id, same: first === null, turns: turn, first_difference: first };
}

async function firstDifference(
  store: Store,
  id: string,
  turn: number,
): Promise<ReplayDifference | undefined> {
  const programs = new Map<string, Program>();
  let run = emptyRun;
  for await (const row of turnsOf(store, id, { from: 1, to: turn })) {
    const digest = digestFor(run, row);
    const program = programs.get(digest) ?? (await storedProgram(store, digest));
    programs.set(digest, program);
    const difference = replayTurn(program, run, row);
    if (difference !== undefined) return difference;
    run = applyTurn(run, row);
  }
  return undefined;
}
