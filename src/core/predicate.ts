// Conditions of a composition's branches. A path that leads nowhere is unlike everything; ordering wants
// numbers on both sides, and anything else is a mistake that is said.

import { deepEqual, isObject, type Json, type JsonObject } from "../base/json.ts";
import { type LookUp, referencePath } from "./reference.ts";

export type Judged =
  | { readonly ok: true; readonly value: boolean }
  | { readonly ok: false; readonly message: string };

export function judgePredicate(predicate: Json, lookUp: LookUp): Judged {
  if (!isObject(predicate)) return wrong("a predicate is an object");
  const { all_of: all, any_of: some, not } = predicate;
  if (Array.isArray(all)) return judgeList(all as readonly Json[], lookUp, true);
  if (Array.isArray(some)) return judgeList(some as readonly Json[], lookUp, false);
  if (not !== undefined) {
    const judged = judgePredicate(not, lookUp);
    return judged.ok ? { ok: true, value: !judged.value } : judged;
  }
  return judgeValue(predicate, lookUp);
}

/** Stops at the first part that decides: an empty `all_of` is true, an empty `any_of` false. */
function judgeList(list: readonly Json[], lookUp: LookUp, all: boolean): Judged {
  for (const item of list) {
    const judged = judgePredicate(item, lookUp);
    if (!judged.ok || judged.value !== all) return judged;
  }
  return { ok: true, value: all };
}

function judgeValue(predicate: JsonObject, lookUp: LookUp): Judged {
  const written = predicate["path"];
  if (typeof written !== "string") return wrong("a predicate names a `path`");
  const path = referencePath(written.trim().replace(/^\$\{(.*)\}$/s, "$1"));
  if (path === undefined) return wrong(`\`${written}\` is no path`);
  const found = lookUp(path);
  const { exists, op } = predicate;
  if (typeof exists === "boolean") return { ok: true, value: (found !== undefined) === exists };
  return compare(String(op), { written, found, value: predicate["value"] ?? null });
}

interface Comparison {
  readonly written: string;
  readonly found: Json | undefined;
  readonly value: Json;
}

function compare(op: string, { written, found, value }: Comparison): Judged {
  switch (op) {
    case "equals":
      return { ok: true, value: found !== undefined && deepEqual(found, value) };
    case "not_equals":
      return { ok: true, value: found === undefined || !deepEqual(found, value) };
    case "in":
    case "not_in": {
      if (!Array.isArray(value)) return wrong(`\`${op}\` wants a list of values`);
      const isIn = found !== undefined && value.some((item: Json) => deepEqual(found, item));
      return { ok: true, value: isIn === (op === "in") };
    }
  }
  const ordered = ORDER.get(op);
  if (ordered === undefined) return wrong(`\`${op}\` is no comparison`);
  if (typeof found !== "number" || typeof value !== "number") {
    const shown = found === undefined ? "nothing" : JSON.stringify(found);
    return wrong(`\`${written}\` is ${shown} (\`${op}\` compares numbers)`);
  }
  return { ok: true, value: ordered(found, value) };
}

const ORDER: ReadonlyMap<string, (a: number, b: number) => boolean> = new Map([
  ["less_than", (a, b) => a < b],
  ["less_than_or_equals", (a, b) => a <= b],
  ["greater_than", (a, b) => a > b],
  ["greater_than_or_equals", (a, b) => a >= b],
]);

const wrong = (message: string): Judged => ({ ok: false, message });
