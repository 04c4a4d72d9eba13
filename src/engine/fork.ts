// A fork before it is made: reads the origin at the cut and decides the first turn of the new run. Nothing is
// written, so the same plan serves to show what a fork would do.

import { assert, must } from "../base/assert.ts";
import type { JsonObject } from "../base/json.ts";
import { fold } from "../core/apply.ts";
import { FACTS_VERSION, type TurnRow } from "../core/facts.ts";
import { decideFork, type ForkInput, packOfFork } from "../core/fork.ts";
import type { Refusal } from "../core/input.ts";
import type { Program } from "../core/program.ts";
import type { Run } from "../core/run.ts";
import type { Store } from "./ports.ts";

export interface ForkRequest {
  /** Name of the new run. */
  readonly id: string;
  /** The last turn that is copied. Cuts fall between turns. */
  readonly from: { readonly run: string; readonly turn: number };
  readonly resetBudget: boolean;
  /** In place of the origin's, all of them. */
  readonly variables?: JsonObject;
  readonly artifacts?: JsonObject;
  readonly answers?: ForkInput["answers"];
  readonly event?: string;
  /** Another pack to go on with; an explicit act, and journaled (S3). */
  readonly pack?: { readonly program: Program; readonly digest: string; readonly source: string };
  /** Finds the fork again; unique. */
  readonly key?: string;
  readonly setup: JsonObject;
}

export type ForkPlan =
  | { readonly kind: "planned"; readonly row: TurnRow; readonly run: Run; readonly program: Program }
  | { readonly kind: "refused"; readonly refusal: Refusal };

export async function planFork(store: Store, request: ForkRequest, now: number): Promise<ForkPlan> {
  const { from, resetBudget, artifacts, answers, event, pack } = request;
  const stored = await store.loadAt(from.run, from.turn);
  if (stored === undefined) return { kind: "refused", refusal: { code: "unknown-run", run: from.run } };
  const origin = fold(stored.rows, stored.snapshot);
  const old = must(await store.program(origin.digest), `the program ${origin.digest} of a run is stored`);
  const before = old.program as unknown as Program;
  const program = pack?.program ?? before;
  const at = Math.max(origin.now, now);
  const decision = decideFork(program, origin, {
    at,
    from,
    digest: pack?.digest ?? origin.digest,
    resetBudget,
    variables: request.variables ?? origin.variables,
    artifacts: artifacts ?? {},
    answers: answers ?? [],
    ...(event !== undefined && { event }),
    ...(pack !== undefined && { pack: packOfFork(before, program, origin) }),
  });
  if (decision.kind === "refused") return decision;
  assert(decision.kind === "facts", "a fork is made or refused");
  const row: TurnRow = { turn: origin.turn + 1, at, v: FACTS_VERSION, facts: decision.facts };
  return { kind: "planned", row, run: decision.run, program };
}
