// The agents of a run as people see them under it: how the run of each stands, and what those that wait want
// of somebody.

import type { Status } from "../../core/facts.ts";
import { type Summary, summaryOf } from "../../core/summary.ts";
import type { Store } from "../../engine/ports.ts";
import { loadedRun, unlessDamaged } from "../../host/stored-runs.ts";

export interface AgentRun {
  readonly run: string;
  readonly agent: string;
  /** How many agents are between the run that is shown and this one. */
  readonly depth: number;
  /** Null for one that is not here: not started yet, removed, or damaged. */
  readonly status: Status | null;
  readonly state: string | null;
  /** What it asks itself, not what it waits for because its own agents ask. */
  readonly waits: Summary["waiting_for"];
}

/** Every agent below, callers before those they called. */
export async function agentsOf(store: Store, { children }: Summary, depth = 0): Promise<readonly AgentRun[]> {
  const found: AgentRun[] = [];
  for (const { run, agent } of children) {
    const summary = await summaryIn(store, run);
    const waits = (summary?.waiting_for ?? []).filter((wait) => wait.run === undefined);
    found.push({ run, agent, depth, status: summary?.status ?? null, state: summary?.state ?? null, waits });
    if (summary !== undefined) found.push(...(await agentsOf(store, summary, depth + 1)));
  }
  return found;
}

async function summaryIn(store: Store, run: string): Promise<Summary | undefined> {
  const known = await unlessDamaged(() => store.record(run));
  if (known === undefined) return undefined;
  const loaded = await unlessDamaged(() => loadedRun(store, run));
  if (loaded === undefined) return undefined;
  const { packId, packVersion, digest } = loaded.record;
  return summaryOf(run, { id: packId, version: packVersion, digest }, loaded.run);
}
