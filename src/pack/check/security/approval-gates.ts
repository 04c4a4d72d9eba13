// Which tools wait for a person before they run (S31): those named in packloop.yaml, and under
// `acts_with_approval` those that are felt outside or cannot be undone.

import type { CheckContext } from "../rule.ts";
import { scopeOf } from "./tool-classes.ts";

export type IsGated = (tool: string) => boolean;

export function approvalGates(context: CheckContext): IsGated {
  const names = new Set(context.config.approvals);
  const prefixes = context.config.approvals
    .filter((name) => name.endsWith("*"))
    .map((name) => name.slice(0, -1));
  const governed = everyRunAsks(context);
  return (tool) => {
    if (names.has(tool) || prefixes.some((prefix) => tool.startsWith(prefix))) return true;
    const scope = governed ? scopeOf(context, tool) : undefined;
    return scope?.effect === "external" || scope?.reversibility === "irreversible";
  };
}

/** An agent with a level of its own may run the same states without asking. */
function everyRunAsks({ pack }: CheckContext): boolean {
  const level = pack.metadata?.governance?.autonomy_level;
  const members = Object.values(pack.agents?.members ?? {});
  return [undefined, ...members].every(
    (member) => (member?.governance?.autonomy_level ?? level) === "acts_with_approval",
  );
}
