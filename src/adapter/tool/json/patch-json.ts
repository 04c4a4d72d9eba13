// Changes a JSON value by a list of operations (RFC 6902) or by a value to merge in (RFC 7396).

import { isObject, type Json, type JsonObject, put } from "../../../base/json.ts";
import { withinTime } from "../time-limit.ts";
import { ToolProblem } from "../tool-problem.ts";

const OPERATIONS = new Set(["add", "remove", "replace", "move", "copy", "test"]);
const OPERATIONS_MAX = 1000;
const TIME_MS = 2000;

export async function patched(document: Json, patch: readonly Json[], bytesMax: number): Promise<Json> {
  if (patch.length > OPERATIONS_MAX)
    throw new ToolProblem("too_large", `a patch has at most ${OPERATIONS_MAX} operations`);
  const { default: library } = await import("fast-json-patch");
  type Operation = Parameters<typeof library.applyOperation>[1];
  return withinTime({ ms: TIME_MS, what: "the patch" }, () => {
    let current: Json = copyOf(document);
    for (const [index, operation] of patch.entries()) {
      if (
        !isObject(operation) ||
        !OPERATIONS.has(String(operation["op"])) ||
        typeof operation["path"] !== "string"
      )
        throw wrong(index, "it has no known `op`, or no `path`");
      try {
        const step = copyOf(operation) as unknown as Operation;
        current = library.applyOperation(current, step, true, true, true, index).newDocument;
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        // The library's message goes on with the whole document.
        throw wrong(index, error.message.split("\n")[0] ?? "");
      }
      // Copies of copies double the value each time.
      if (operation["op"] === "copy" && JSON.stringify(current).length > bytesMax)
        throw new ToolProblem("too_large", `the patched value has more than ${bytesMax} bytes`);
    }
    return current;
  });
}

const copyOf = (value: Json): Json => structuredClone(value);

const wrong = (index: number, why: string): ToolProblem =>
  new ToolProblem("bad_patch", `operation ${index} of the patch cannot be applied: ${why}`);

/** RFC 7396: null removes, objects are merged, everything else replaces. */
export function merged(document: Json, patch: Json, depth = 0): Json {
  if (!isObject(patch)) return patch;
  if (depth > 500) throw new ToolProblem("too_large", "the patch is nested too deeply");
  const result: Record<string, Json> = {};
  const base: JsonObject = isObject(document) ? document : {};
  for (const [key, value] of Object.entries(base)) put(result, key, value);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else put(result, key, merged(Object.hasOwn(base, key) ? (base[key] as Json) : null, value, depth + 1));
  }
  return result;
}
