// JSON values: their type, equality, pointers and one canonical text form.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Where a value sits in a document: keys and list indexes from the root. */
export type Path = readonly (string | number)[];

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** RFC 6901. The root is the empty string. */
export function toPointer(path: Path): string {
  let pointer = "";
  for (const part of path) pointer += `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return pointer;
}

/** Own properties only, so a key called `__proto__` or `constructor` is just a key. */
export function get(value: Json | undefined, key: string | number): Json | undefined {
  if (Array.isArray(value)) return typeof key === "number" ? (value[key] as Json | undefined) : undefined;
  if (isObject(value)) return Object.hasOwn(value, key) ? value[key] : undefined;
  return undefined;
}

/** Sets a property without ever running a setter: `__proto__` becomes an ordinary own key. */
export function put(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

export function deepEqual(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item: Json, i) => deepEqual(item, b[i] as Json));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key] as Json, b[key] as Json));
}

/**
 * One text per value: keys sorted by UTF-16 unit, no white space, numbers as JavaScript prints them
 * (the rules of RFC 8785). Two packs with the same canonical text are the same pack.
 */
export function canonical(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonical(item)).join(",")}]`;
  const object = value as JsonObject;
  const parts: string[] = [];
  for (const key of Object.keys(object).sort()) {
    parts.push(`${JSON.stringify(key)}:${canonical(object[key] as Json)}`);
  }
  return `{${parts.join(",")}}`;
}

/** The value that a text is; undefined for what is not JSON. */
export function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
