// `packloop run --unattended`: a run that nobody watches has to end by itself, so one that might not is
// refused before anything is opened for it.

import type { Limits } from "../../core/facts.ts";
import { flowOf } from "../../core/flow.ts";
import type { Program } from "../../core/program.ts";
import { analyse } from "../../pack/flow/analysis.ts";
import { boundOf } from "../../pack/flow/bound.ts";
import { type ExitError, usageError } from "../exit.ts";
import type { StartPlace } from "./start-place.ts";

/** `limits` are those from outside the pack: of flags and of packloop.yaml. */
export function refuseEndless(program: Program, place: StartPlace, limits: readonly Partial<Limits>[]): void {
  const onePrompt = program.workflow === null || (place.prompt !== undefined && place.state === undefined);
  if (onePrompt || limits.some(({ visits, wallMs }) => (visits ?? wallMs ?? null) !== null)) return;
  const flow = flowOf(program);
  const named = flow.states.findIndex(({ name }) => name === place.state);
  const { verdict, witness } = boundOf(program, analyse(flow, named === -1 ? flow.entry : named), flow);
  const cycle = witness?.cycle ?? [];
  if (verdict === "unbounded")
    throw endless(`\`${[...cycle, ...cycle.slice(0, 1)].join(" → ")}\` can repeat for ever`);
  if (verdict === "undecided") throw endless("it is not decided whether every run ends");
}

const endless = (why: string): ExitError =>
  usageError(
    `${why}, and nobody attends the run (guard a state, or give --budget-visits or --budget-seconds)`,
  );
