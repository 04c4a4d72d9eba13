// The body of a request with places for arguments: `"{name}"` alone becomes the argument as it is, inside
// other text its text. A key whose argument is missing is left out.

import { get, isObject, type Json, type JsonObject, put } from "../../../base/json.ts";

const ALONE = /^\{([A-Za-z_][\w-]*)\}$/;
const INSIDE = /\{([A-Za-z_][\w-]*)\}/g;

export function fillBody(template: Json, args: JsonObject): Json | undefined {
  if (typeof template === "string") return fillText(template, args);
  if (Array.isArray(template)) return template.map((item: Json) => fillBody(item, args) ?? null);
  if (!isObject(template)) return template;
  const filled: Record<string, Json> = {};
  for (const [key, value] of Object.entries(template)) {
    const one = fillBody(value, args);
    if (one !== undefined) put(filled, key, one);
  }
  return filled;
}

function fillText(text: string, args: JsonObject): Json | undefined {
  const name = ALONE.exec(text)?.[1];
  if (name !== undefined) return get(args, name);
  // One pass: what an argument holds is never looked at again.
  return text.replaceAll(INSIDE, (_hole, inside: string) => {
    const value = get(args, inside) ?? "";
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}
