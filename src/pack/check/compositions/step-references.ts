// References in steps: `${input}`, `${input.field}`, `${step.output}`, `${step.output.field}`, in texts,
// inside objects and lists, and as the path of a predicate, where the braces may be missing.

import { isObject, type Json, type Path } from "../../../base/json.ts";
import type { Step } from "../../shape/generated/pack-file.ts";

export interface StepReference {
  /** As written, braces included. */
  readonly raw: string;
  /** `step`, `output`, `field`. */
  readonly parts: readonly string[];
  readonly path: Path;
  /** Offset of `raw` in the text at `path`, and that text. */
  readonly start: number;
  readonly text: string;
}

/** References of one step; those of its branches are their own. Steps of other vendors have no known form. */
export function referencesOf(step: Step, path: Path): readonly StepReference[] {
  switch (step.kind) {
    case "prompt":
    case "agent":
      return inValue(step.input as Json | undefined, [...path, "input"]);
    case "tool":
      return inValue(step.args as Json | undefined, [...path, "args"]);
    case "branch":
      return inPredicate(step.predicate as unknown as Json, [...path, "predicate"]);
    default:
      return [];
  }
}

function inValue(value: Json | undefined, path: Path): readonly StepReference[] {
  if (typeof value === "string") return inText(value, path);
  if (Array.isArray(value)) return value.flatMap((item: Json, index) => inValue(item, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => inValue(item, [...path, key]));
}

const REFERENCE = /\$\{([^{}\n]{1,500})\}/g;
const NAMED = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_-]+|\[\d+\])*$/;

function inText(text: string, path: Path): readonly StepReference[] {
  const found: StepReference[] = [];
  for (const match of text.matchAll(REFERENCE)) {
    const parts = partsOf(match[1] as string);
    if (parts !== undefined) found.push({ raw: match[0], parts, path, start: match.index, text });
  }
  return found;
}

function partsOf(inner: string): readonly string[] | undefined {
  const name = inner.trim();
  return NAMED.test(name) ? (name.match(/[A-Za-z0-9_-]+/g) ?? undefined) : undefined;
}

/** Nesting is limited by the reader. */
function inPredicate(predicate: Json | undefined, path: Path): readonly StepReference[] {
  if (!isObject(predicate)) return [];
  const found: StepReference[] = [];
  const text = predicate["path"];
  if (typeof text === "string") found.push(...inPath(text, [...path, "path"]));
  for (const key of ["all_of", "any_of"]) {
    const list = predicate[key];
    for (const [index, item] of (Array.isArray(list) ? list : []).entries()) {
      found.push(...inPredicate(item as Json, [...path, key, index]));
    }
  }
  return [...found, ...inPredicate(predicate["not"], [...path, "not"])];
}

function inPath(text: string, path: Path): readonly StepReference[] {
  const parts = text.includes("${") ? undefined : partsOf(text);
  return parts === undefined ? inText(text, path) : [{ raw: text, parts, path, start: 0, text }];
}
