// A run of `packloop goal` that says it is done: its claim is judged here, with its journal and its workspace
// at hand. What it is told enters like anything a person says, so it is in the journal too.

import { innerFile } from "../adapter/tool/fs/inner-file.ts";
import { get, type JsonObject } from "../base/json.ts";
import type { TurnRow } from "../core/facts.ts";
import type { Input } from "../core/input.ts";
import type { Run } from "../core/run.ts";
import type { Store } from "../engine/ports.ts";
import { gateInput, isAtGate } from "../goal/goal-gate.ts";

export interface ClaimingRun {
  readonly id: string;
  readonly run: Run;
  readonly setup: JsonObject;
  readonly workspace: string;
  readonly at: number;
}

/** What is kept with a run of the built-in pack, and tells it from any other with states of such names. */
export const goalSetup = (stepsMax: number): JsonObject => ({ goal: { max_steps: stepsMax } });

const PAGE = 1000;

/** Undefined for a run that claims nothing. */
export async function judgeClaim(store: Store, claiming: ClaimingRun): Promise<Input | undefined> {
  const { id, run, setup, workspace, at } = claiming;
  const stepsMax = get(get(setup, "goal"), "max_steps");
  if (typeof stepsMax !== "number" || !isAtGate(run)) return undefined;
  const rows: TurnRow[] = [];
  while (rows.length < run.turn)
    rows.push(...(await store.rows(id, { from: rows.length + 1, to: run.turn, limit: PAGE })));
  const hasFile = (path: string) => innerFile(workspace, path) !== undefined;
  return gateInput(run, rows, { at, stepsMax, hasFile });
}
