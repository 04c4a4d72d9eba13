// Which steps run for each way the branches may decide. The rules of skipping: a target that no branch picks
// is skipped, also when the branch itself is; a step is skipped with all the steps it depends on; one that
// merely stands after a skipped step runs. A branch with both targets goes on with one of them, not with the
// step that stands behind it.

import { type StepGraph, targetsOf } from "./step-graph.ts";
import type { PlacedStep } from "./step-list.ts";

/** Steps times ways to decide; a composition beyond that is left alone. */
const WORK_MAX = 500_000;

/** For each way the branches may decide, the top-level steps that run in list order; undefined if unknown. */
export function possibleRuns(graph: StepGraph): readonly (readonly number[])[] | undefined {
  const { steps, top } = graph;
  const branches = top.filter((index) => steps[index]?.step.kind === "branch");
  if (branches.length > 20 || steps.length * 2 ** branches.length > WORK_MAX) return undefined;
  const order = hasLooseEnds(graph) ? undefined : inRunOrder(graph);
  if (order === undefined) return undefined;
  const runs: (readonly number[])[] = [];
  for (let choice = 0; choice < 1 << branches.length; choice++) {
    const taken = new Set(branches.filter((_, bit) => (choice >> bit) & 1));
    const ran = runWith(graph, order, taken);
    runs.push(top.filter((index) => ran.has(index)));
  }
  return runs;
}

/** Names that lead nowhere or are used twice, branches inside a parallel step: nothing can be told. */
function hasLooseEnds({ steps, indexById }: StepGraph): boolean {
  if (indexById.size < steps.length) return true;
  return steps.some((placed) => {
    const names = [...(placed.step.depends_on ?? []), ...targetsOf(placed)];
    if (names.some((name) => !indexById.has(name))) return true;
    return placed.parent !== undefined && placed.step.kind === "branch";
  });
}

/** Top-level steps, each after those before it; undefined when they wait for each other. */
function inRunOrder({ top, before, rank }: StepGraph): readonly number[] | undefined {
  const ranks = new Set(Array.from(rank));
  if (ranks.size < before.length || before.some((row, index) => row.has(index))) return undefined;
  return top.toSorted((a, b) => (rank[a] as number) - (rank[b] as number));
}

function runWith(
  graph: StepGraph,
  order: readonly number[],
  taken: ReadonlySet<number>,
): ReadonlySet<number> {
  const ran = new Set<number>();
  const picked = new Set<string>();
  const passedOver = new Set<string>();
  for (const index of order) {
    const placed = graph.steps[index] as PlacedStep;
    if (!runs(graph, index, { ran, picked, passedOver })) {
      for (const target of targetsOf(placed)) passedOver.add(target);
      continue;
    }
    ran.add(index);
    if (placed.step.kind !== "branch") continue;
    const { then, else: other } = placed.step;
    const next = taken.has(index) ? then : other;
    if (next !== undefined) picked.add(next);
    for (const target of targetsOf(placed)) if (target !== next) passedOver.add(target);
  }
  return ran;
}

interface Deciding {
  readonly ran: ReadonlySet<number>;
  readonly picked: ReadonlySet<string>;
  readonly passedOver: ReadonlySet<string>;
}

function runs(graph: StepGraph, index: number, { ran, picked, passedOver }: Deciding): boolean {
  const { step, position } = graph.steps[index] as PlacedStep;
  const isPicked = picked.has(step.id);
  if (passedOver.has(step.id) && !isPicked) return false;
  const needed = step.depends_on ?? [];
  if (needed.length > 0) return needed.some((id) => ran.has(topOf(graph, graph.indexById.get(id) as number)));
  if (isPicked) return true;
  const previous = graph.top[position - 1] ?? -1;
  const behind = graph.steps[previous]?.step;
  return behind?.kind !== "branch" || behind.else === undefined || !ran.has(previous);
}

/** The top-level step a step stands in, or itself. */
export function topOf({ steps, top }: StepGraph, index: number): number {
  return top[(steps[index] as PlacedStep).position] as number;
}
