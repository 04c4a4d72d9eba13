// The steps of all compositions with their places, those inside parallel branches included.

import type { Path } from "../../../base/json.ts";
import type { PackFile, Step } from "../../shape/generated/pack-file.ts";

interface PlacedStep {
  readonly step: Step;
  readonly composition: string;
  readonly path: Path;
}

/** Nesting is limited by the reader, so the recursion is. */
export function placedSteps(pack: PackFile): readonly PlacedStep[] {
  return Object.entries(pack.compositions ?? {}).flatMap(([composition, { steps }]) =>
    placed(steps, composition, ["compositions", composition, "steps"]),
  );
}

function placed(steps: readonly Step[], composition: string, around: Path): readonly PlacedStep[] {
  return steps.flatMap((step, index) => {
    const path = [...around, index];
    const own = { step, composition, path };
    if (step.kind !== "parallel") return [own];
    return [own, ...placed(step.branches, composition, [...path, "branches"])];
  });
}
