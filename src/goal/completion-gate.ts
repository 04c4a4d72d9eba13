// Done is a claim. It is granted when every criterion of the frame is met on evidence that is there.

import { criteriaOf, type Report } from "./read-answer.ts";
import type { RunRecord } from "./run-record.ts";
import { isInnerPath } from "./tool-result.ts";

interface Surroundings {
  /** Undefined without a workspace: then only what results named can be claimed. */
  readonly isFile: ((path: string) => boolean) | undefined;
}

/** Why the claim is refused; empty when it is granted. */
export function refusedCompletion(
  run: RunRecord,
  report: Report,
  { isFile }: Surroundings,
): readonly string[] {
  const reasons: string[] = [];
  // A run of RFC-103's time has no frame: what its report names is what it is judged by.
  const criteria = run.frame === null ? report.criteria : criteriaOf(run.frame);
  const wanted = [...new Set(criteria.map(({ id }) => id))];
  const isThere = (path: string) => isInnerPath(path) && (isFile?.(path) ?? run.artifacts.includes(path));
  for (const id of wanted) {
    const named = report.criteria.filter((one) => one.id === id);
    const [only] = named;
    if (only === undefined) reasons.push(`criterion ${id} is not in the report`);
    else if (named.length > 1) reasons.push(`criterion ${id} is in the report more than once`);
    else if (!only.met) reasons.push(`criterion ${id} is not met`);
    else if (!only.evidence.some((ref) => resolves(run, ref, isThere)))
      reasons.push(`criterion ${id} has no evidence that can be found`);
  }
  for (const { id } of report.criteria)
    if (!wanted.includes(id)) reasons.push(`${id} is not a criterion of the frame`);
  for (const path of report.artifacts)
    if (!isThere(path)) reasons.push(`artifact \`${path.slice(0, 120)}\` is not in the workspace`);
  return [...new Set(reasons)];
}

function resolves(run: RunRecord, ref: string, isThere: (path: string) => boolean): boolean {
  if (!ref.startsWith("step:")) return isThere(ref);
  const step = Number(ref.slice("step:".length));
  return run.completed_steps.includes(step) && !run.failed_steps.includes(step);
}
