// Done is a claim. It is granted when every criterion of the frame is met on evidence that is there, by the
// same rule in `packloop goal` and in the plugin.

import type { JsonObject } from "../base/json.ts";
import { criteriaOf, type Report } from "./read-answer.ts";
import { isInnerPath } from "./tool-result.ts";

export interface Claim {
  /** Null in a run of RFC-103's time: what its report names is what it is judged by. */
  readonly frame: JsonObject | null;
  /** Null when Done was said without one. */
  readonly report: Report | null;
  /** The action was answered, and not with an error. */
  readonly hasSucceeded: (step: number) => boolean;
  /** Asked only for paths that stay inside. */
  readonly hasFile: (path: string) => boolean;
}

/** The third claim that is not borne out ends the run. */
export const REFUSALS_MAX = 3;

/** Why the claim is refused; empty when it is granted. */
export function refusedCompletion({ frame, report, hasSucceeded, hasFile }: Claim): readonly string[] {
  if (report === null) return ["there is no success report (give one with Done)"];
  const reasons: string[] = [];
  const criteria = frame === null ? report.criteria : criteriaOf(frame);
  const wanted = [...new Set(criteria.map(({ id }) => id))];
  const isThere = (path: string) => isInnerPath(path) && hasFile(path);
  const resolves = (ref: string) => (isStep(ref) ? hasSucceeded(stepOf(ref)) : isThere(ref));
  for (const id of wanted) {
    const named = report.criteria.filter((one) => one.id === id);
    const [only] = named;
    if (only === undefined) reasons.push(`criterion ${id} is not in the report`);
    else if (named.length > 1) reasons.push(`criterion ${id} is in the report more than once`);
    else if (!only.met) reasons.push(`criterion ${id} is not met`);
    else if (!only.evidence.some(resolves)) reasons.push(`criterion ${id} has no evidence that can be found`);
  }
  for (const { id } of report.criteria)
    if (!wanted.includes(id)) reasons.push(`${id} is not a criterion of the frame`);
  for (const path of report.artifacts)
    if (!isThere(path)) reasons.push(`artifact \`${path.slice(0, 120)}\` is not in the workspace`);
  return [...new Set(reasons)];
}

const isStep = (ref: string): boolean => ref.startsWith("step:");
const stepOf = (ref: string): number => Number(ref.slice("step:".length));
