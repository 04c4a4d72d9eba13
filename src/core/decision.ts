// The three ends of a decision.

import type { Decision, Refusal } from "./input.ts";
import type { Program } from "./program.ts";
import type { Run } from "./run.ts";
import { Turn } from "./turn.ts";

export const ignored = (why: string): Decision => ({ kind: "ignored", why });
export const refused = (refusal: Refusal): Decision => ({ kind: "refused", refusal });

/** Runs rules on a turn and closes it: what can go on does, and timers always match what they are for. */
export function decided(program: Program, run: Run, at: number, rules: (turn: Turn) => void): Decision {
  const turn = new Turn(program, run, at);
  rules(turn);
  turn.askStalled();
  turn.dropWakers();
  turn.armTimer();
  return { kind: "facts", facts: turn.facts, run: { ...turn.run, turn: run.turn + 1 } };
}
