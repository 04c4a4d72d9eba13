// One ask of a run: the turn that asked it, the turn a request for it is built at, and its answer.

import type { Answered, Ask, TurnRow } from "../core/facts.ts";
import type { Run } from "../core/run.ts";
import type { Store } from "../engine/ports.ts";
import { missing, runAt, turnsOf } from "./stored-runs.ts";

export interface FoundStep {
  readonly ask: Ask;
  readonly asked: TurnRow;
  /** The run the call was, or would be, made from: as it was asked, or as a fork took the ask over. */
  readonly run: Run;
  readonly answer: { readonly row: TurnRow; readonly fact: Answered } | null;
}

export async function findStep(store: Store, id: string, last: number, step: number): Promise<FoundStep> {
  const turn = await turnOfStep(store, id, last, step);
  if (turn === undefined)
    throw missing("unknown-step", `run \`${id}\` has no step ${step} (see packloop show ${id})`);
  let asked: { readonly row: TurnRow; readonly ask: Ask } | undefined;
  let from = turn;
  let answer: FoundStep["answer"] = null;
  for await (const row of turnsOf(store, id, { from: turn, to: last })) {
    for (const fact of row.facts) {
      if (fact.type === "asked" && fact.step === step) asked = { row, ask: fact.ask };
      else if (fact.type === "forked") from = row.turn;
      else if (fact.type === "answered" && fact.step === step) answer = { row, fact };
    }
    if (answer !== null) break;
  }
  if (asked === undefined) throw missing("unknown-step", `run \`${id}\` has no step ${step}`);
  // A fork that answers the step itself makes no call: the request is the one of the turn before it.
  const base = answer?.row.turn === from ? turn : from;
  return { ask: asked.ask, asked: asked.row, run: await runAt(store, id, base), answer };
}

/** The first turn after which the step had been asked. Steps only grow, so halving finds it in few looks. */
async function turnOfStep(store: Store, id: string, last: number, step: number): Promise<number | undefined> {
  if (step < 1 || (await runAt(store, id, last)).step < step) return undefined;
  let low = 1;
  let high = last;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await runAt(store, id, middle)).step >= step) high = middle;
    else low = middle + 1;
  }
  return low;
}
