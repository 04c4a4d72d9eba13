// What `approve` and `reject` mean when no step is named: the one approval that the run waits for.

import { summaryOf } from "../../core/summary.ts";
import { loadedRun } from "../../host/stored-runs.ts";
import { usageError } from "../exit.ts";
import { wholeRun } from "./load-run.ts";
import { openStore } from "./open-store.ts";

interface Approval {
  /** The run by its own name: `@` may be another one a moment later. */
  readonly id: string;
  readonly step: number;
  readonly sha256?: string;
}

/** Refuses to choose: whoever decides about a call has to know which one it is. */
export async function soleApproval(given: string, path: string | undefined): Promise<Approval> {
  await using store = await openStore({ store: path, readOnly: true });
  const { run: id } = await wholeRun(store, given);
  const { run, record } = await loadedRun(store, id);
  const { packId, packVersion, digest } = record;
  const waits = summaryOf(id, { id: packId, version: packVersion, digest }, run).waiting_for;
  const [only, ...others] = waits.filter(({ kind }) => kind === "approval");
  if (only === undefined) throw usageError(`run \`${id}\` waits for no approval (see packloop show ${id})`);
  if (others.length > 0) {
    const steps = [only, ...others].map(({ step }) => step).join(", ");
    throw usageError(`run \`${id}\` waits for several approvals (name the step: ${steps})`);
  }
  const { step, sha256 } = only;
  return { id, step, ...(sha256 !== undefined && { sha256 }) };
}
