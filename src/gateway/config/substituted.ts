// `${NAME}` in the texts of a parsed document. It is done after parsing, so that a variable's value is only
// ever a value: it cannot add keys.

import { isObject, type Json, put } from "../../base/json.ts";

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** `missing` hears the names of variables that are not set. */
export function substituted(
  value: Json,
  env: (name: string) => string | undefined,
  missing: (name: string) => void,
): Json {
  if (typeof value === "string")
    return value.replace(VARIABLE, (whole, name: string) => {
      const found = env(name);
      if (found === undefined) missing(name);
      return found ?? whole;
    });
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => substituted(one, env, missing));
  if (!isObject(value)) return value;
  const made: Record<string, Json> = {};
  for (const [key, one] of Object.entries(value)) put(made, key, substituted(one, env, missing));
  return made;
}
