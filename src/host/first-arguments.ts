// The arguments that a model gave for a call, where a person has changed them since: each change is an
// approval answered with `edited` and a new one asked in the same turn.

import type { Json } from "../base/json.ts";
import type { TurnRow } from "../core/facts.ts";
import type { RunRecord, Store } from "../engine/ports.ts";

/** Turns looked back over. A run that waits moves little, so changes lie close to its end. */
const TURNS_MAX = 200;

export async function firstArguments(
  store: Store,
  { run, turn }: RunRecord,
  step: number,
): Promise<Json | undefined> {
  const from = Math.max(1, turn - TURNS_MAX + 1);
  const rows = await store.rows(run, { from, to: turn, limit: TURNS_MAX });
  let wanted = step;
  for (const row of rows.toReversed()) {
    const args = argumentsIn(row, wanted);
    if (args === undefined) continue;
    const before = editedIn(row);
    if (before === undefined) return wanted === step ? undefined : args;
    wanted = before;
  }
  return undefined;
}

function argumentsIn({ facts }: TurnRow, step: number): Json | undefined {
  for (const fact of facts)
    if (fact.type === "asked" && fact.step === step && fact.ask.kind === "approval") return fact.ask.args;
  return undefined;
}

/** The approval whose change asked for the one of this turn. */
function editedIn({ facts }: TurnRow): number | undefined {
  for (const fact of facts)
    if (fact.type === "answered" && fact.outcome.ok && fact.outcome.value === "edited") return fact.step;
  return undefined;
}
