// A variable of a prompt as a JSON Schema that clients can show.

import { get, type JsonObject } from "../../base/json.ts";
import type { VariableSpec } from "../../core/program.ts";

const TYPES: ReadonlySet<string> = new Set(["string", "number", "boolean", "object", "array"]);
/** Rules of packs that JSON Schema has under another name, or under the same. */
const RULES = [
  ["enum", "enum"],
  ["minimum", "minimum"],
  ["maximum", "maximum"],
  ["min_length", "minLength"],
  ["max_length", "maxLength"],
] as const;

export function variableSchema({ type, description, defaultValue, validation }: VariableSpec): JsonObject {
  const rules = RULES.flatMap(([ours, theirs]) => {
    const value = get(validation, ours);
    return value === undefined ? [] : [[theirs, value] as const];
  });
  return {
    ...(TYPES.has(type) && { type }),
    ...(description !== "" && { description }),
    ...(defaultValue !== undefined && defaultValue !== null && { default: defaultValue }),
    ...Object.fromEntries(rules),
  };
}

/** Somebody has to say it. */
export const isNeeded = ({ required, defaultValue }: VariableSpec): boolean =>
  required && (defaultValue === undefined || defaultValue === null);
