// States without a way on that are not marked `terminal: true`, sorted by what is odd about them.

import type { PackFile } from "../../shape/generated/pack-file.ts";
import type { CheckContext } from "../rule.ts";

type StateFile = NonNullable<PackFile["workflow"]>["states"][string];

interface SilentEnd {
  readonly name: string;
  readonly state: StateFile;
  /**
   * `contradiction`: it says that it goes on, by `terminal: false` or by a guard; `hand-off`: it is external,
   * so the run completes on entry; `end`: nothing is said.
   */
  readonly kind: "contradiction" | "hand-off" | "end";
}

export function statesWithoutEvents({ pack, damagedStates }: CheckContext): readonly SilentEnd[] {
  const found: SilentEnd[] = [];
  for (const [name, state] of Object.entries(pack.workflow?.states ?? {})) {
    if (state.terminal === true || damagedStates.has(name)) continue;
    if (Object.keys(state.on_event ?? {}).length > 0) continue;
    found.push({ name, state, kind: kindOf(state) });
  }
  return found;
}

function kindOf(state: StateFile): SilentEnd["kind"] {
  if (state.terminal === false || state.max_visits !== undefined) return "contradiction";
  return state.orchestration === "external" ? "hand-off" : "end";
}
