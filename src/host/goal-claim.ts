// A run of `packloop goal` that says it is done: its claim is judged here, with its journal and its workspace
// at hand. What it is told enters like anything a person says, so it is in the journal too.

import { statSync } from "node:fs";
import { innerFile } from "../adapter/tool/fs/inner-file.ts";
import { get, type JsonObject } from "../base/json.ts";
import type { TurnRow } from "../core/facts.ts";
import type { Input } from "../core/input.ts";
import type { Run } from "../core/run.ts";
import type { Store } from "../engine/ports.ts";
import { gateInput, isAtGate } from "../goal/goal-gate.ts";
import { lineage } from "./common-past.ts";

export interface ClaimingRun {
  readonly id: string;
  readonly run: Run;
  readonly setup: JsonObject;
  /** The folder that a run works in. */
  readonly workspaceOf: (run: string) => string;
  readonly at: number;
}

/** What is kept with a run of the built-in pack, and tells it from any other with states of such names. */
export const goalSetup = (stepsMax: number): JsonObject => ({ goal: { max_steps: stepsMax } });

const PAGE = 1000;

/** Undefined for a run that claims nothing. */
export async function judgeClaim(store: Store, claiming: ClaimingRun): Promise<Input | undefined> {
  const { id, run, setup, workspaceOf, at } = claiming;
  const stepsMax = get(get(setup, "goal"), "max_steps");
  if (typeof stepsMax !== "number" || !isAtGate(run)) return undefined;
  const rows: TurnRow[] = [];
  while (rows.length < run.turn)
    rows.push(...(await store.rows(id, { from: rows.length + 1, to: run.turn, limit: PAGE })));
  const places: Place[] = [];
  for (const [one, turn] of await lineage(store, { id, turn: run.turn, run })) {
    // What an origin made after the fork had left it is none of the fork's.
    const until = one === id ? Number.POSITIVE_INFINITY : (rows[turn - 1]?.at ?? 0) + CLOCKS_APART_MS;
    places.push({ folder: workspaceOf(one), until });
  }
  const hasFile = (path: string) => places.some((place) => isFileIn(place, path));
  return gateInput(run, rows, { at, stepsMax, hasFile });
}

/** A folder, and until when it was the run's own: a fork has the files of the past it shares. */
interface Place {
  readonly folder: string;
  readonly until: number;
}

/** The clock of files is not that of turns. */
const CLOCKS_APART_MS = 1_000;

function isFileIn({ folder, until }: Place, path: string): boolean {
  const file = innerFile(folder, path);
  return file !== undefined && statSync(file).mtimeMs <= until;
}
