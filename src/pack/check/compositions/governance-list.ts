// Governance objects: that of the pack and those of agents, with what is in force where an agent overrides a
// part.

import type { Path } from "../../../base/json.ts";
import type { Governance } from "../../shape/generated/pack-file.ts";
import type { CheckContext } from "../rule.ts";

interface PlacedGovernance {
  /** The agent it belongs to; undefined for the pack's own. */
  readonly agent: string | undefined;
  readonly written: Governance;
  /** Field by field: the agent's, else the pack's. */
  readonly effective: Governance;
  readonly path: Path;
}

export function governanceObjects({ pack }: CheckContext): readonly PlacedGovernance[] {
  const found: PlacedGovernance[] = [];
  const own = pack.metadata?.governance;
  if (own !== undefined) {
    found.push({ agent: undefined, written: own, effective: own, path: ["metadata", "governance"] });
  }
  for (const [agent, { governance }] of Object.entries(pack.agents?.members ?? {})) {
    if (governance === undefined) continue;
    const path = ["agents", "members", agent, "governance"];
    found.push({ agent, written: governance, effective: { ...own, ...governance }, path });
  }
  return found;
}
