// Checks on what the compositions of a run did: which way a branch went, what steps and wholes came to.

import { deepEqual, get, type Json, type JsonObject } from "../../base/json.ts";
import { compositionNamed, type PartSpec } from "../../core/composition.ts";
import type { Observed } from "./observed.ts";

type CompositionJudge = (observed: Observed, params: JsonObject) => boolean | undefined;

export const COMPOSITION_JUDGES: Readonly<Record<string, CompositionJudge>> = {
  composition_branch_taken: (observed, params) => {
    const branch = get(params, "branch");
    if (typeof branch !== "string") return undefined;
    const last = lastOf(observed, branch);
    const expected = get(params, "expected");
    if (last === undefined || expected === undefined) return last !== undefined;
    return waysOf(observed, branch, last.output === true).some((way) => deepEqual(way, expected));
  },
  composition_step_output: (observed, params) => {
    const step = get(params, "step");
    if (typeof step !== "string") return undefined;
    const last = lastOf(observed, step);
    return last !== undefined && fits(last.output, params);
  },
  composition_parallel_complete: (observed, params) => {
    const step = get(params, "step");
    const isParallel = ({ kind }: PartSpec) => kind === "parallel";
    const all = partsOf(observed)
      .filter(isParallel)
      .map(({ id }) => id);
    const wanted = typeof step === "string" ? [step] : all;
    return wanted.length > 0 && wanted.every((id) => lastOf(observed, id) !== undefined);
  },
  composition_output: ({ composed }, params) => {
    const last = composed.at(-1);
    return last !== undefined && fits(last, params);
  },
};

const lastOf = ({ parts }: Observed, id: string) =>
  parts.findLast(({ part, is }) => part === id && is === "done");

const partsOf = ({ program }: Observed): readonly PartSpec[] =>
  Object.keys(program.compositions).flatMap((name) => compositionNamed(program, name)?.parts ?? []);

/** Everything that a way may be called: the step it led to, the arm, or what the predicate said. */
function waysOf(observed: Observed, branch: string, isTrue: boolean): readonly Json[] {
  const spec = partsOf(observed).find(({ id }) => id === branch);
  const target = spec?.kind === "branch" ? (isTrue ? spec.onTrue : spec.onFalse) : null;
  return [isTrue, isTrue ? "then" : "else", ...(target === null ? [] : [target])];
}

/** What is said of a value: that it is there, holds a text, is equal to another, at a path of it. */
function fits(output: Json, params: JsonObject): boolean {
  const path = get(params, "path");
  const value = typeof path === "string" ? valueAt(output, path) : output;
  if (value === undefined) return false;
  const contains = get(params, "contains");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (typeof contains === "string" && !text.includes(contains)) return false;
  const wanted = get(params, "equals") ?? get(params, "expected");
  return wanted === undefined || deepEqual(value, wanted);
}

function valueAt(value: Json, path: string): Json | undefined {
  let found: Json | undefined = value;
  for (const part of path.replace(/^\$?\.?/, "").match(/[^.[\]]+/g) ?? [])
    found = Array.isArray(found) ? get(found, Number(part)) : get(found, part);
  return found;
}
