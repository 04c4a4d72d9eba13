// The declared variables of prompts, with their places.

import type { Path } from "../../../base/json.ts";
import { nodeAt } from "../../read/tree.ts";
import type { Variable } from "../../shape/generated/pack-file.ts";
import type { CheckContext } from "../rule.ts";

interface DeclaredVariable {
  readonly prompt: string;
  readonly variable: Variable;
  readonly path: Path;
}

const known = new WeakMap<CheckContext, readonly DeclaredVariable[]>();

/**
 * Variables whose own shape is right; none of a list with a dropped item, which the author must mend
 * first.
 */
export function declaredVariables(context: CheckContext): readonly DeclaredVariable[] {
  const before = known.get(context);
  if (before !== undefined) return before;
  const found: DeclaredVariable[] = [];
  known.set(context, found);
  for (const [prompt, { variables = [] }] of Object.entries(context.pack.prompts)) {
    const list: Path = ["prompts", prompt, "variables"];
    if (!isWholeList(context, list, variables)) continue;
    for (const [index, variable] of variables.entries()) {
      const path = [...list, index];
      const isUsable = ["name", "type", "required"].every((key) => !context.isBroken(...path, key));
      if (isUsable) found.push({ prompt, variable, path });
    }
  }
  return found;
}

/** No item was dropped by the shape phase, so indexes in the pack are indexes in the file. */
export function isWholeList(context: CheckContext, path: Path, list: readonly unknown[]): boolean {
  const node = nodeAt(context.root, path);
  return node === undefined ? list.length === 0 : node.kind === "list" && node.items.length === list.length;
}

/**
 * Names a prompt declares in the file, whatever else is wrong with them; undefined when there is no
 * telling.
 */
export function declaredNames(context: CheckContext, prompt: string): ReadonlySet<string> | undefined {
  const path: Path = ["prompts", prompt, "variables"];
  const names = new Set<string>();
  const list = nodeAt(context.root, path);
  if (list === undefined) return names;
  if (list.kind !== "list") return undefined;
  for (const item of list.items) {
    const name = nodeAt(item, ["name"]);
    if (name?.kind !== "scalar") return undefined;
    names.add(String(name.value));
  }
  return names;
}
