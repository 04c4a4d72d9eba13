// What somebody changes in a fork: nothing, an event, an artifact, an answer, the pack.

import type { Fact, TurnRow } from "../../src/core/facts.ts";
import type { Input } from "../../src/core/input.ts";
import type { Program } from "../../src/core/program.ts";
import type { Run } from "../../src/core/run.ts";
import type { ForkRequest } from "../../src/engine/fork.ts";
import type { Dice } from "./dice.ts";
import type { World } from "./world.ts";

type Edit = Omit<ForkRequest, "id" | "from" | "setup">;

/** Where a fork cuts: at the end, where a call waits for a person or an agent was to be stopped, or anywhere. */
export function anyCut(dice: Dice, rows: readonly TurnRow[]): number {
  const stops = rows.filter(owesStop);
  if (stops.length > 0 && dice.chance(0.4)) return dice.pick(stops).turn;
  const odd = rows.filter(({ facts }) => facts.some(isOdd));
  if (odd.length > 0 && dice.chance(0.85)) return dice.pick(odd).turn;
  return dice.chance(0.4) ? rows.length : dice.between(1, rows.length);
}

const isOdd = (fact: Fact): boolean =>
  fact.type === "noted"
    ? fact.what === "deferred" || fact.what === "in_doubt"
    : fact.type === "asked" && fact.ask.kind === "approval";

/** The rarest: an agent whose end is owed by a run that goes on. */
export const owesStop = ({ facts }: TurnRow): boolean =>
  facts.some((fact) => fact.type === "asked" && fact.ask.kind === "stop") &&
  !facts.some(({ type }) => type === "finished");

export function anyEdit(
  dice: Dice,
  world: World,
  { past, program, other }: { past: Run; program: Program; other: NonNullable<ForkRequest["pack"]> },
): Edit {
  const resetBudget = dice.chance(0.3);
  const gated = Object.values(past.open).some(({ ask }) => ask.kind === "approval");
  const pack = dice.chance(gated ? 0.95 : 0.5) ? { pack: other } : {};
  const events = Object.keys(program.workflow?.states[past.state ?? ""]?.events ?? {});
  const calls = Object.entries(past.open).filter(
    ([, { ask }]) => ask.kind === "tool" || ask.kind === "agent",
  );
  const artifacts = Object.keys(program.workflow?.artifacts ?? {});
  if (events.length > 0 && dice.chance(0.3)) return { resetBudget, ...pack, event: dice.pick(events) };
  if (artifacts.length > 0 && dice.chance(0.3))
    return { resetBudget, ...pack, artifacts: { [dice.pick(artifacts)]: world.value() } };
  if (calls.length === 0 || dice.chance(0.5)) return { resetBudget, ...pack };
  const step = Number(dice.pick(calls)[0]);
  return { resetBudget, ...pack, answers: [{ step, outcome: { ok: true, value: world.value() } }] };
}

/** What a fork's edit would be if somebody had said it to the run. */
export function editOf({ event, answers }: ForkRequest, at: number): Input {
  const answer = answers?.[0];
  if (event !== undefined) return { type: "event", at, name: event, by: "fork" };
  if (answer !== undefined) return { type: "answer", at, ...answer, by: "fork" };
  return { type: "retry", at, step: 0, by: "fork" };
}
