// Placeholders that make up one mistake: said once, mended everywhere.

import { toPointer } from "../../../base/json.ts";
import type { TemplateUse } from "../../template-uses.ts";
import { textKey } from "./artifact-flow.ts";

type UseGroup = readonly [TemplateUse, ...TemplateUse[]];

/**
 * Groups uses by key, in file order; those without a key are left out. A placeholder in a fragment is a
 * use of every prompt that includes it, and counts once in a group.
 */
export function groupUses(
  uses: readonly TemplateUse[],
  keyOf: (use: TemplateUse) => string | undefined,
): readonly UseGroup[] {
  const groups = new Map<string, { uses: [TemplateUse, ...TemplateUse[]]; places: Set<string> }>();
  for (const use of uses) {
    const key = keyOf(use);
    if (key === undefined) continue;
    const place = textKey(use);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { uses: [use], places: new Set([place]) });
    else if (!group.places.has(place)) {
      group.places.add(place);
      group.uses.push(use);
    }
  }
  return [...groups.values()].map((group) => group.uses);
}

/** A key for what is said once per text, whatever prompt the text is used by. */
export const keyInText = (use: TemplateUse, name: string): string => `${name}\n${toPointer(use.path)}`;
