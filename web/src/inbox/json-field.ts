// A value that somebody typed.

import type { Json } from "../../../src/base/json.ts";

export type Parsed =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly message: string };

export function parsedJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { ok: false, message: `this is not JSON: ${error.message}` };
  }
}

/** JSON where it is JSON, else the text itself. */
export function valueIn(text: string): Json {
  const parsed = parsedJson(text);
  return parsed.ok ? parsed.value : text;
}
