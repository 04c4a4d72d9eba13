// The steps of compositions without their nesting: which prompts and tools each one uses.

import type { Composition, PackFile, Step } from "../../shape/generated/pack-file.ts";

/** Every step, those inside parallel branches included. Nesting is limited by the reader. */
export function stepsOf(composition: Composition): readonly Step[] {
  return composition.steps.flatMap(withBranches);
}

function withBranches(step: Step): readonly Step[] {
  return step.kind === "parallel" ? [step, ...step.branches.flatMap(withBranches)] : [step];
}

export function promptOfStep(step: Step): string | undefined {
  return step.kind === "prompt" || step.kind === "agent" ? step.prompt_task : undefined;
}

/** Prompts that run as a step somewhere; those are given `input`. */
export function promptsOfSteps(pack: PackFile): ReadonlySet<string> {
  const prompts = new Set<string>();
  for (const composition of Object.values(pack.compositions ?? {})) {
    for (const step of stepsOf(composition)) {
      const prompt = promptOfStep(step);
      if (prompt !== undefined) prompts.add(prompt);
    }
  }
  return prompts;
}
