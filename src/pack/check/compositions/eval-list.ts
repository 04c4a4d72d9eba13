// Evals and validators of a pack with their places.

import type { Path } from "../../../base/json.ts";
import type { Eval, Validator } from "../../shape/generated/pack-file.ts";
import type { CheckContext } from "../rule.ts";

interface PlacedEval {
  readonly eval: Eval;
  readonly path: Path;
}

/** One list for each level: that of the pack first, then those of the prompts. */
export function evalLevels({ pack }: CheckContext): readonly (readonly PlacedEval[])[] {
  const placed = (evals: readonly Eval[] | undefined, path: Path) =>
    (evals ?? []).map((one, index) => ({ eval: one, path: [...path, index] }));
  const prompts = Object.entries(pack.prompts);
  return [
    placed(pack.evals, ["evals"]),
    ...prompts.map(([key, prompt]) => placed(prompt.evals, ["prompts", key, "evals"])),
  ];
}

interface PlacedValidator {
  readonly validator: Validator;
  readonly path: Path;
}

export function allValidators({ pack }: CheckContext): readonly PlacedValidator[] {
  return Object.entries(pack.prompts).flatMap(([key, prompt]) =>
    (prompt.validators ?? []).map((validator, index) => ({
      validator,
      path: ["prompts", key, "validators", index],
    })),
  );
}
