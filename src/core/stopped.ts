// News of an agent that its caller has given up: no answer to the call any more, but to the ask that stops
// it.

import type { Ask } from "./facts.ts";
import type { AnswerInput } from "./input.ts";
import type { Run } from "./run.ts";

/** What the caller still wants to know is what was spent for it. Runs name no tool, as others do. */
export function ofStopped(run: Run, input: AnswerInput): AnswerInput {
  const { spent, tool } = input;
  if (spent === undefined || tool !== undefined || run.open[input.step] !== undefined) return input;
  const stop = Object.entries(run.open).find(([, { ask }]) => isStopOf(ask, input.step))?.[0];
  return stop === undefined ? input : { ...input, step: Number(stop), outcome: { ok: true, value: null } };
}

const isStopOf = (ask: Ask, step: number): boolean =>
  ask.kind === "stop" && ask.remote === undefined && ask.child === String(step);
