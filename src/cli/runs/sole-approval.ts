// The approval that `approve` and `reject` are about: the step that is named, or the one that the run waits for.

import { type Summary, summaryOf } from "../../core/summary.ts";
import { loadedRun } from "../../host/stored-runs.ts";
import { usageError } from "../exit.ts";
import { noteText } from "../output.ts";
import { wholeRun } from "./load-run.ts";
import { openStore } from "./open-store.ts";

interface Approval {
  /** The run by its own name: `@` may be another one a moment later. */
  readonly id: string;
  readonly step: number;
  /** Of what was shown; whoever decides decides about that. */
  readonly sha256?: string;
}

/** Shows what is asked for. A step that waits for no approval is whoever decides to refuse. */
export async function shownApproval(
  given: string,
  step: number | undefined,
  path: string | undefined,
): Promise<Approval> {
  await using store = await openStore({ store: path, readOnly: true });
  const { run: id } = await wholeRun(store, given);
  const { run, record } = await loadedRun(store, id);
  const { packId, packVersion, digest } = record;
  const waits = summaryOf(id, { id: packId, version: packVersion, digest }, run).waiting_for;
  const approvals = waits.filter(({ kind }) => kind === "approval");
  const found = step === undefined ? sole(id, approvals) : approvals.find((one) => one.step === step);
  if (found === undefined) return { id, step: step ?? 0 };
  const { sha256, tool = "", args = null } = found;
  noteText(`step ${found.step}: ${tool} ${JSON.stringify(args)} (SHA-256 ${sha256 ?? ""})`);
  return { id, step: found.step, ...(sha256 !== undefined && { sha256 }) };
}

/** Refuses to choose: whoever decides about a call has to know which one it is. */
function sole(id: string, approvals: Summary["waiting_for"]): Summary["waiting_for"][number] {
  const [only, ...others] = approvals;
  if (only === undefined) throw usageError(`run \`${id}\` waits for no approval (see packloop show ${id})`);
  if (others.length === 0) return only;
  const steps = [only, ...others].map(({ step }) => step).join(", ");
  throw usageError(`run \`${id}\` waits for several approvals (name the step: ${steps})`);
}
