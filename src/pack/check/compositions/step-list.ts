// The steps of a composition with their places, those inside parallel branches included.

import type { Path } from "../../../base/json.ts";
import type { Composition, Step } from "../../shape/generated/pack-file.ts";
import type { CheckContext } from "../rule.ts";

export interface PlacedStep {
  readonly step: Step;
  readonly path: Path;
  /** The index in `steps` of the step itself, or of the parallel step it stands in. */
  readonly position: number;
  /** The parallel step it is a branch of. */
  readonly parent: PlacedStep | undefined;
}

/** In file order; a parallel step comes before its branches. Nesting is limited by the reader. */
export function placedSteps(name: string, composition: Composition): readonly PlacedStep[] {
  const found: PlacedStep[] = [];
  const add = (step: Step, path: Path, position: number, parent: PlacedStep | undefined): void => {
    const placed = { step, path, position, parent };
    found.push(placed);
    if (step.kind !== "parallel") return;
    for (const [index, branch] of step.branches.entries())
      add(branch, [...path, "branches", index], position, placed);
  };
  for (const [index, step] of composition.steps.entries()) {
    add(step, ["compositions", name, "steps", index], index, undefined);
  }
  return found;
}

/** Every composition of the pack with its steps. */
export function compositionsOf({ pack }: CheckContext) {
  return Object.entries(pack.compositions ?? {}).map(([name, composition]) => {
    return { name, composition, steps: placedSteps(name, composition) };
  });
}
