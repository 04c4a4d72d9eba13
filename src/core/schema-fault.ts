// Why nothing can be judged by a JSON Schema, as far as that can be seen without a value.

import { get, isObject, type Json, type JsonObject } from "../base/json.ts";

export function schemaFault(schema: JsonObject): string | undefined {
  const hasIds = JSON.stringify(schema).includes('"$id"');
  const look = (value: Json): string | undefined => {
    if (Array.isArray(value)) return firstOf(value, look);
    if (!isObject(value)) return undefined;
    const { $ref: reference, pattern } = value;
    if (typeof reference === "string" && !(hasIds || leads(schema, reference)))
      return `\`${reference}\` in it leads nowhere`;
    if (typeof pattern === "string" && !isPattern(pattern))
      return `\`${pattern}\` in it is no regular expression`;
    // Values that are only compared with are no schemas.
    const inner = Object.entries(value).filter(
      ([key]) => key !== "const" && key !== "enum" && key !== "default",
    );
    return firstOf(
      inner.map(([, one]) => one),
      look,
    );
  };
  return look(schema);
}

function firstOf(values: readonly Json[], look: (value: Json) => string | undefined): string | undefined {
  for (const value of values) {
    const found = look(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Only within the schema: nothing is fetched. */
function leads(schema: JsonObject, reference: string): boolean {
  if (reference === "#") return true;
  if (!reference.startsWith("#/")) return isAnchor(schema, reference);
  let found: Json | undefined = schema;
  for (const key of reference.slice(2).split("/")) {
    const name = decoded(key).replaceAll("~1", "/").replaceAll("~0", "~");
    found = Array.isArray(found) ? found[Number(name)] : get(found, name);
  }
  return found !== undefined;
}

const isAnchor = (schema: JsonObject, reference: string): boolean =>
  reference.startsWith("#") && JSON.stringify(schema).includes(`"$anchor":"${reference.slice(1)}"`);

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch (error) {
    if (error instanceof URIError) return key;
    throw error;
  }
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
