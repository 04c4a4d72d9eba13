// PP802: a step refers to something that is neither the input nor an earlier step.

import type { Path } from "../../../base/json.ts";
import { suggest } from "../../../base/suggest.ts";
import { replaceScalar } from "../../fix/edits.ts";
import { nodeAt } from "../../read/tree.ts";
import { editInText, placeInText } from "../artifacts/text-map.ts";
import { type CheckContext, onValue, type Place, type Report, type Rule } from "../rule.ts";
import { ancestorsOf, type StepGraph, stepGraph, writtenIds } from "./step-graph.ts";
import { compositionsOf, type PlacedStep } from "./step-list.ts";
import { referencesOf, type StepReference } from "./step-references.ts";

export const stepReference: Rule = {
  code: "PP802",
  severity: "error",
  fix: "unsafe",
  title: "reference to no earlier step",
  explain:
    "A reference such as `${summary.output}` takes the output of a step that has run, and `${input}` " +
    "what the composition was given; anything else can never be filled in. `depends_on`, `then`, `else` " +
    "and `output` name steps too. Correct the name, or move the step so that it runs before its output " +
    "is needed.",
  bad: `
prompts:
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: Sum up the text. }
compositions:
  brief:
    version: 1
    steps:
      - { id: summary, kind: prompt, prompt_task: sum, input: "\${input}" }
      - { id: title, kind: prompt, prompt_task: sum, input: "\${sumary.output}" }
workflow:
  version: 1
  entry: brief
  states: { brief: { orchestration: composition, composition: brief, terminal: true } }
`,
  good: `
prompts:
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: Sum up the text. }
compositions:
  brief:
    version: 1
    steps:
      - { id: summary, kind: prompt, prompt_task: sum, input: "\${input}" }
      - { id: title, kind: prompt, prompt_task: sum, input: "\${summary.output}" }
workflow:
  version: 1
  entry: brief
  states: { brief: { orchestration: composition, composition: brief, terminal: true } }
`,
  check: (context, report) => {
    for (const { name, composition, steps } of compositionsOf(context)) {
      const graph = stepGraph(steps);
      const judging = { context, report, ids: writtenIds(context, name), graph, isEarlier: earlierIn(graph) };
      for (const index of steps.keys()) judgeStep(judging, index);
      if (composition.output === undefined) continue;
      judgeName(judging, ["compositions", name, "output"], {
        named: composition.output,
        message: `composition \`${name}\` returns \`${composition.output}\`, which is not a step`,
        why: "output names the step whose output it is",
      });
    }
  },
};

interface Judging {
  readonly context: CheckContext;
  readonly report: Report;
  readonly ids: ReadonlySet<string>;
  readonly graph: StepGraph;
  /** The first has run when the second begins. */
  readonly isEarlier: (other: number, index: number) => boolean;
}

function judgeStep(judging: Judging, index: number): void {
  const { step, path } = judging.graph.steps[index] as PlacedStep;
  for (const [at, named] of (step.depends_on ?? []).entries()) {
    judgeName(judging, [...path, "depends_on", at], {
      named,
      message: `step \`${step.id}\` depends on \`${named}\`, which is not a step`,
      why: "depends_on names steps of the same composition",
    });
  }
  if (step.kind === "branch") {
    for (const key of ["then", "else"] as const) {
      const named = step[key];
      if (named === undefined) continue;
      judgeName(judging, [...path, key], {
        named,
        message: `branch \`${step.id}\` leads to \`${named}\`, which is not a step`,
        why: "then and else name steps of the same composition",
      });
    }
  }
  const isEarlier = (other: number) => judging.isEarlier(other, index);
  for (const reference of referencesOf(step, path)) judgeReference(judging, isEarlier, reference);
}

function judgeName(
  { context, report, ids }: Judging,
  path: Path,
  { named, message, why }: { named: string; message: string; why: string },
): void {
  if (ids.has(named) || context.isBroken(...path)) return;
  const meant = suggest(named, ids);
  report({
    at: onValue(...path),
    message,
    why,
    help: "rename it, or add the step",
    ...(meant !== undefined && {
      label: `did you mean \`${meant}\`?`,
      fix: { title: `name \`${meant}\``, edits: replaceScalar(context.root, context.text, path, meant) },
    }),
    data: { name: named, suggestion: meant ?? null },
  });
}

function judgeReference(
  { context, report, ids, graph }: Judging,
  isEarlier: (index: number) => boolean,
  reference: StepReference,
): void {
  const [name = "", second] = reference.parts;
  const target = graph.indexById.get(name);
  // A step the shape phase refused is in the file, but where it stands is not known.
  if (name === "input" || (target === undefined && ids.has(name))) return;
  const known = target !== undefined && isEarlier(target);
  if (known && second === "output") return;
  const close = target === undefined ? suggest(name, ["input", ...graph.indexById.keys()]) : undefined;
  const meant = close === "input" || isEarlier(graph.indexById.get(close ?? "") ?? -1) ? close : undefined;
  const start = reference.start + reference.raw.indexOf(name);
  const part = { start, end: start + name.length };
  report({
    at: placeOf(context, reference),
    ...textOf(reference, { known, exists: target !== undefined }),
    ...(meant !== undefined && {
      label: `did you mean \`${meant}\`?`,
      fix: {
        title: `refer to \`${meant}\``,
        edits: isAtPlace(context, reference)
          ? editInText(context, reference.path, { part, written: meant })
          : [],
      },
    }),
    data: { reference: reference.raw, name, suggestion: meant ?? null },
  });
}

function textOf({ raw, parts }: StepReference, { known, exists }: { known: boolean; exists: boolean }) {
  const name = parts[0] ?? "";
  if (known) {
    return {
      message: `\`${raw}\` does not read the output of \`${name}\``,
      why: "a step has nothing else to read",
      help: `write \`\${${name}.output}\``,
    };
  }
  if (exists) {
    return {
      message: `\`${raw}\` refers to a step that has not run yet`,
      why: "only earlier steps have output",
      help: "name an earlier step, or let this one depend on it",
    };
  }
  return {
    message: `\`${raw}\` refers to no step`,
    why: "only earlier steps have output",
    help: "name an earlier step, or `input`",
  };
}

/** Steps looked at in one composition to find what waits for what; past it a reference passes. */
const WORK_MAX = 1_000_000;

/** Listed before it, or what it waits for; never a step that runs at the same time. */
function earlierIn(graph: StepGraph): Judging["isEarlier"] {
  const { steps, rank } = graph;
  let work = 0;
  return (other, index) => {
    const [one, two] = [steps[other], steps[index]];
    if (one === undefined || two === undefined) return false;
    if (one.position < two.position) return true;
    if (other === index || (rank[other] as number) > (rank[index] as number)) return false;
    const found = work > WORK_MAX ? undefined : ancestorsOf(graph, index);
    work += found?.size ?? 0;
    return found?.has(other) ?? true;
  };
}

/** Paths shift where the shape phase dropped a step before; then the text is not at its path. */
function isAtPlace({ root }: CheckContext, { path, text }: StepReference): boolean {
  const node = nodeAt(root, path);
  return node?.kind === "scalar" && node.value === text;
}

function placeOf(context: CheckContext, reference: StepReference): Place {
  const { path, start, raw } = reference;
  if (!isAtPlace(context, reference)) return onValue(...path);
  return placeInText(context, path, { start, end: start + raw.length });
}
