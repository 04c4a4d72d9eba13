// Questions about the keys of one object: which are meant, which are required, which form they fit.

import type { Json, JsonObject } from "../../base/json.ts";
import { get, isObject, put } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import type { Shape } from "./shape.ts";

/** The members of an object as found, those that can be used, and the keys it may not have. */
export interface Members {
  readonly value: JsonObject;
  readonly held: JsonObject;
  readonly unknown: readonly string[];
}

/** In an open object: a key the shape does not know and that is nearly `key`. Looks at the first 100 keys. */
export function misspelt(shape: Shape, value: JsonObject, key: string): string | undefined {
  if (shape.rest === false) return undefined;
  const strays = Object.keys(value).slice(0, 100);
  return strays.find((name) => own(shape.properties, name) === undefined && suggest(name, [key]) === key);
}

/** Keys that are required because of another property, unless that one is wrong itself. */
export function conditional(
  shape: Shape,
  { value, held }: Members,
  meant: ReadonlySet<string>,
): readonly string[] {
  const rule = shape.requiredWhen;
  if (rule === undefined || meant.has(rule.key)) return [];
  if (Object.hasOwn(value, rule.key) && !Object.hasOwn(held, rule.key)) return [];
  return get(held, rule.key) === rule.value ? rule.keys : rule.otherwise;
}

/** A copy with some members replaced; `undefined` leaves one out. */
export function copyWith(
  value: JsonObject,
  changes: ReadonlyMap<string, Json | undefined>,
): Record<string, Json> {
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    const member = changes.has(key) ? changes.get(key) : (value[key] as Json);
    if (member !== undefined) put(copy, key, member);
  }
  return copy;
}

/** A form that lacks a required key or has an unknown one is tried only to explain why nothing fits. */
export function mayFit(form: Shape, value: Json): boolean {
  if (!isObject(value)) return true;
  if (form.required?.some((key) => !Object.hasOwn(value, key)) === true) return false;
  return form.rest !== false || Object.keys(value).every((key) => own(form.properties, key) !== undefined);
}

export function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
