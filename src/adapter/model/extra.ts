// What a provider wants back with an answer it gave: signed or encrypted reasoning, its own names of calls,
// marks on parts. The journal keeps it beside the answer as an opaque value; nobody else reads it.
//
// E1: it goes back only to the model it came from; another one would refuse it.
// E2: text is not kept twice: a part of it is a number of characters of the answer's text.

import { get, isObject, type Json, type JsonObject } from "../../base/json.ts";

export type ExtraPart =
  | { readonly text: number; readonly options?: JsonObject }
  | { readonly reasoning: string; readonly options?: JsonObject }
  /** The provider's name for the call; the calls of the answer come in the same order. */
  | { readonly call: string; readonly options?: JsonObject };

export interface Extra {
  readonly from: string;
  /** Marks what stood before the answer, where reasoning is bound to it. */
  readonly prefix?: string;
  readonly parts: readonly ExtraPart[];
}

/** Undefined when there is none, when it is another model's, or when it does not fit the answer. */
export function readExtra(
  value: Json | undefined,
  expected: { readonly from: string; readonly calls: number; readonly text: string },
): Extra | undefined {
  const parts = get(value, "parts");
  if (get(value, "from") !== expected.from || !Array.isArray(parts) || !parts.every(isPart)) return undefined;
  let calls = 0;
  let characters = 0;
  for (const part of parts as readonly ExtraPart[]) {
    if ("call" in part) calls++;
    else if ("text" in part) characters += part.text;
  }
  // An answer that somebody replaced or edited does not fit what came with the first one.
  const fits = calls === expected.calls && characters === expected.text.length;
  return fits ? (value as unknown as Extra) : undefined;
}

function isPart(value: Json): boolean {
  if (!isObject(value)) return false;
  const { text, reasoning, call, options } = value;
  const kind = Number.isInteger(text) || typeof reasoning === "string" || typeof call === "string";
  return kind && (options === undefined || isObject(options));
}
