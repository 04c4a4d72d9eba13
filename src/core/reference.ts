// References of a composition: `${input.file}`, `${sort.output.kind}`. A text that is one reference keeps the
// value's type, references inside a longer text become text, objects and lists are walked.

import { isObject, type Json, put } from "../base/json.ts";

/** What a path leads to; undefined when it leads nowhere. */
export type LookUp = (path: readonly (string | number)[]) => Json | undefined;

export type Resolved =
  | { readonly ok: true; readonly value: Json }
  /** References that lead nowhere, as written. */
  | { readonly ok: false; readonly missing: readonly string[] };

const REFERENCE = /\$\{([^{}\n]{1,500})\}/g;
const PATH = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_-]+|\[\d{1,9}\])*$/;
const PART = /\[(\d+)\]|([A-Za-z0-9_-]+)/g;

export function resolve(value: Json, lookUp: LookUp): Resolved {
  const missing: string[] = [];
  const resolved = filled(value, (raw, path) => {
    const found = lookUp(path);
    if (found === undefined) missing.push(raw);
    return found ?? null;
  });
  return missing.length === 0 ? { ok: true, value: resolved } : { ok: false, missing };
}

type Fill = (raw: string, path: readonly (string | number)[]) => Json;

function filled(value: Json, fill: Fill): Json {
  if (typeof value === "string") return filledText(value, fill);
  if (Array.isArray(value)) return value.map((item: Json) => filled(item, fill));
  if (!isObject(value)) return value;
  const result: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) put(result, key, filled(item, fill));
  return result;
}

function filledText(text: string, fill: Fill): Json {
  const whole = /^\s*\$\{([^{}\n]{1,500})\}\s*$/.exec(text);
  const path = whole === null ? undefined : referencePath(whole[1] as string);
  if (path !== undefined) return fill(text.trim(), path);
  return text.replace(REFERENCE, (raw: string, inner: string) => {
    const named = referencePath(inner);
    // What is no reference is text, as the checker sees it.
    return named === undefined ? raw : asText(fill(raw, named));
  });
}

/** The path inside the braces, or of a predicate that is written without; undefined when it is none. */
export function referencePath(inner: string): readonly (string | number)[] | undefined {
  const path = inner.trim();
  if (!PATH.test(path)) return undefined;
  return [...path.matchAll(PART)].map(([, index, name]) =>
    index === undefined ? (name as string) : Number(index),
  );
}

/** As a model reads it: text as it is, nothing for null, the rest as JSON. */
export function asText(value: Json): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
