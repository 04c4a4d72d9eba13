// What a composition does next, from what its parts have come to. Outside parallel parts one part runs at a
// time, in the order of the list as far as `depends_on` allows; all branches of a parallel part run at once.
//
// Skipping: a part that a branch may lead to is skipped unless one did; a part is skipped with all the parts
// it depends on; a part that merely stands after a skipped one runs. A branch with both targets goes on with
// one of them, not with the part that stands behind it.

import type { Composition, PartSpec } from "./composition.ts";
import { partOf } from "./part-fold.ts";
import type { Composing } from "./run.ts";

export type Move =
  | { readonly kind: "skip" | "begin" | "merge"; readonly part: PartSpec }
  /** Answers are due. */
  | { readonly kind: "wait" }
  | { readonly kind: "end" }
  /** Nothing can go on: parts that wait for each other. */
  | { readonly kind: "stuck"; readonly parts: readonly PartSpec[] };

export function nextMove(composition: Composition, composing: Composing): Move {
  const { parts } = composition;
  const due = parts.find((part) => isDue(composition, composing, part));
  if (due !== undefined)
    return { kind: isSkipped(composition, composing, due) ? "skip" : "begin", part: due };
  // Inner ones stand behind those around them.
  const merged = parts.findLast((part) => isThrough(composing, part));
  if (merged !== undefined) return { kind: "merge", part: merged };
  if (parts.some((part) => part.kind !== "parallel" && isRunning(composing, part.id)))
    return { kind: "wait" };
  const left = parts.filter((part) => part.parent === null && !isSettled(composing, part.id));
  return left.length === 0 ? { kind: "end" } : { kind: "stuck", parts: left };
}

/** Those that run, and those that begin beside them in the same turn. */
export function partsAtWork(composition: Composition, composing: Composing): readonly PartSpec[] {
  return composition.parts.filter((part) => {
    if (isRunning(composing, part.id)) return part.kind !== "parallel";
    return (
      part.kind !== "branch" &&
      isDue(composition, composing, part) &&
      !isSkipped(composition, composing, part)
    );
  });
}

/** Not begun, and everything it waits for is settled. */
function isDue({ parts }: Composition, composing: Composing, part: PartSpec): boolean {
  if (partOf(composing, part.id) !== undefined) return false;
  const mayRun =
    part.parent === null
      ? !parts.some((other) => other.parent === null && isRunning(composing, other.id))
      : isRunning(composing, part.parent);
  const { dependsOn, previous, pickedBy } = part;
  const before = dependsOn.length > 0 || previous === null ? dependsOn : [previous];
  return mayRun && [...before, ...pickedBy].every((id) => isSettled(composing, id));
}

function isSkipped({ partById }: Composition, composing: Composing, part: PartSpec): boolean {
  const { dependsOn, previous, pickedBy } = part;
  const picked = pickedBy.some((id) => chosenBy(partById.get(id), composing) === part.id);
  if (pickedBy.length > 0 && !picked) return true;
  if (dependsOn.length > 0) return dependsOn.every((id) => partOf(composing, id)?.is === "skipped");
  const behind = previous === null ? undefined : partById.get(previous);
  const turnedOff = behind?.kind === "branch" && behind.onFalse !== null;
  return !picked && turnedOff && partOf(composing, behind.id)?.is === "done";
}

/** Where a branch that has run leads; null when it leads nowhere. */
function chosenBy(branch: PartSpec | undefined, composing: Composing): string | null {
  if (branch?.kind !== "branch" || partOf(composing, branch.id)?.is !== "done") return null;
  return partOf(composing, branch.id)?.output === true ? branch.onTrue : branch.onFalse;
}

/** A parallel part whose branches are all at rest; with a failed one, others may never be come to. */
function isThrough(composing: Composing, part: PartSpec): boolean {
  if (part.kind !== "parallel" || !isRunning(composing, part.id)) return false;
  if (part.branches.some(({ id }) => isRunning(composing, id))) return false;
  const hasFailed = part.branches.some(({ id }) => partOf(composing, id)?.is === "failed");
  return hasFailed || part.branches.every(({ id }) => isSettled(composing, id));
}

const isRunning = (composing: Composing, id: string): boolean => partOf(composing, id)?.is === "running";

function isSettled(composing: Composing, id: string): boolean {
  const is = partOf(composing, id)?.is;
  return is === "done" || is === "skipped";
}
