// The order of a composition's steps. A step follows the one before it in the list unless `depends_on` names
// its predecessors; a branch comes before its targets; a parallel step ends after its branches, which begin
// when it does.

import { components } from "../../../base/components.ts";
import { type Node, nodeAt } from "../../read/tree.ts";
import type { CheckContext } from "../rule.ts";
import type { PlacedStep } from "./step-list.ts";

export interface StepGraph {
  readonly steps: readonly PlacedStep[];
  /** The first step with that id. */
  readonly indexById: ReadonlyMap<string, number>;
  /** By position in `steps` of the composition: the index of the step that is no branch of another. */
  readonly top: readonly number[];
  /** By step: those that come right before it. */
  readonly before: readonly ReadonlySet<number>[];
  /** A step never has a higher rank than one it comes before; equal ranks wait for each other. */
  readonly rank: ArrayLike<number>;
}

export function stepGraph(steps: readonly PlacedStep[]): StepGraph {
  const indexById = new Map<string, number>();
  for (const [index, { step }] of steps.entries()) if (!indexById.has(step.id)) indexById.set(step.id, index);
  const indexOf = new Map(steps.map((step, index) => [step, index]));
  const before = steps.map(() => new Set<number>());
  const top: number[] = [];
  for (const [index, placed] of steps.entries()) {
    const needed = placed.step.depends_on ?? [];
    for (const id of needed) add(before[index], indexById.get(id));
    if (placed.parent === undefined) {
      if (needed.length === 0) add(before[index], top.at(-1));
      top.push(index);
    }
    for (const target of targetsOf(placed)) add(before[indexById.get(target) ?? -1], index);
  }
  nest(steps, indexOf, before);
  return { steps, indexById, top, before, rank: rankOf(before) };
}

/** Components are numbered successors first, and the rows lead to what comes before. */
function rankOf(before: readonly ReadonlySet<number>[]): ArrayLike<number> {
  const offsets = [0];
  for (const row of before) offsets.push((offsets.at(-1) as number) + row.size);
  const targets = before.flatMap((row) => [...row]);
  return components({ offsets, targets, count: before.length }).of;
}

function add(set: Set<number> | undefined, index: number | undefined): void {
  if (index !== undefined) set?.add(index);
}

/** A parallel step stands before its branches, so what it waits for is known when they are reached. */
function nest(
  steps: readonly PlacedStep[],
  indexOf: ReadonlyMap<PlacedStep, number>,
  before: readonly Set<number>[],
) {
  for (const [index, { parent }] of steps.entries()) {
    const outer = parent === undefined ? undefined : indexOf.get(parent);
    if (outer === undefined) continue;
    for (const one of before[outer] as Set<number>) {
      if (steps[one]?.parent !== parent) before[index]?.add(one);
    }
  }
  for (const [index, { parent }] of steps.entries()) {
    const outer = parent === undefined ? undefined : indexOf.get(parent);
    if (outer !== undefined) before[outer]?.add(index);
  }
}

/** Ids a branch may go on with. */
export function targetsOf({ step }: PlacedStep): readonly string[] {
  if (step.kind !== "branch") return [];
  return step.else === undefined ? [step.then] : [step.then, step.else];
}

/** Everything that comes before a step, directly or not. */
export function ancestorsOf({ before }: StepGraph, index: number): ReadonlySet<number> {
  const found = new Set<number>();
  const queue = [index];
  for (const one of queue) {
    for (const earlier of before[one] as ReadonlySet<number>) {
      if (found.has(earlier)) continue;
      found.add(earlier);
      queue.push(earlier);
    }
  }
  return found;
}

/** Ids written in the file, also of steps the shape phase refused. */
export function writtenIds({ root }: CheckContext, composition: string): ReadonlySet<string> {
  const ids = new Set<string>();
  const collect = (list: Node | undefined): void => {
    for (const item of list?.kind === "list" ? list.items : []) {
      const id = nodeAt(item, ["id"]);
      if (id?.kind === "scalar") ids.add(String(id.value));
      collect(nodeAt(item, ["branches"]));
    }
  };
  collect(nodeAt(root, ["compositions", composition, "steps"]));
  return ids;
}
