// Hosts take JSON that is nested deeper than a process can walk: a tool could end every job that is told of
// its result. What lies deeper than anything useful is cut off, or refused.

import { isObject, type Json, put } from "../base/json.ts";

const CUT = "[nested too deeply]";

/** The same value where nothing is deeper than `most` levels; what is deeper is a mark. */
export function shallow(value: Json, most: number): Json {
  if (value === null || typeof value !== "object") return value;
  if (most === 0) return CUT;
  if (Array.isArray(value)) return value.map((one: Json) => shallow(one, most - 1));
  const object: Record<string, Json> = {};
  for (const [key, one] of Object.entries(value)) put(object, key, shallow(one, most - 1));
  return object;
}

export function isDeeper(value: Json, most: number): boolean {
  if (value === null || typeof value !== "object") return false;
  if (most === 0) return true;
  const inner = Array.isArray(value)
    ? (value as readonly Json[])
    : Object.values(isObject(value) ? value : {});
  return inner.some((one) => isDeeper(one, most - 1));
}
