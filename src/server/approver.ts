// Who may decide about a gated call: anybody with the scope for it, but not who started the run.

import { knownRecord } from "../host/stored-runs.ts";
import { Problem } from "./problem.ts";
import type { Principal } from "./scope.ts";
import type { ServerParts } from "./server-parts.ts";

/**
 * The problem of somebody who would approve what they have started. An admin could make another token for it,
 * and whoever has none is on this machine.
 */
export async function selfApproval(
  { store }: ServerParts,
  { name, scopes }: Principal,
  run: string,
): Promise<Problem | undefined> {
  if (name === null || scopes.includes("admin")) return undefined;
  const { setup } = await knownRecord(store, run.split("/", 1)[0] || run);
  if (setup["by"] !== name) return undefined;
  return new Problem("self-approval", `\`${name}\` started the run (somebody else has to decide)`);
}
