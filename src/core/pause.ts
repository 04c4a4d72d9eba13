// Holding a run: nothing new of it leaves until it is let go. What is out may come back and is recorded, what
// is said to it is taken, and what all that asks waits with the rest. To let go is to find the open asks
// again, so nothing else has to be remembered. The time in which it is held is time in which it waits (S12).

import { decided, ignored } from "./decision.ts";
import type { Decision, PauseInput, UnpauseInput } from "./input.ts";
import { missingKey, RUNTIME } from "./missing-key.ts";
import type { Program } from "./program.ts";
import type { Run } from "./run.ts";

export function pause(program: Program, run: Run, { at, by, reason }: PauseInput): Decision {
  if (run.final !== null) return ignored(`the run is ${run.final}`);
  // A person who holds a run that lacks a key means more than that: the key alone does not let it go.
  const isForKey = missingKey(run) !== undefined && by !== RUNTIME;
  if (run.held !== undefined && !isForKey) return ignored("the run is held already");
  return decided(program, run, at, (turn) => {
    turn.record({ type: "noted", what: "held", by, ...(reason !== undefined && { reason }) });
    turn.overTime();
  });
}

/** Agents that were held with it are waited for as work again: who does that work lets them go, too. */
export function unpause(program: Program, run: Run, { at, by }: UnpauseInput): Decision {
  if (run.final !== null) return ignored(`the run is ${run.final}`);
  if (run.held === undefined) return ignored("nobody holds the run");
  return decided(program, run, at, (turn) => {
    turn.record({ type: "noted", what: "unheld", by });
    if (turn.overTime()) return;
    for (const [step, { ask, hold }] of Object.entries(turn.run.open))
      if (ask.kind === "agent" && hold === "deferred")
        turn.record({ type: "noted", what: "resumed", step: Number(step) });
  });
}
