// What a model is shown of a tool's result (S37): all of it, or its beginning and how much there is. The
// journal has it whole.

import type { Json } from "../base/json.ts";
import { kept } from "../base/kept.ts";
import { utf8Length, utf8Prefix } from "../base/utf8.ts";

const SHOWN_BYTES = 16 * 1024;

/** A result is shown again in every round, and stays the same value. */
const shown = new WeakMap<object, Json>();

export function shownResult(value: Json): Json {
  if (typeof value === "string") return clipped(value, value);
  if (typeof value !== "object" || value === null) return value;
  return kept(shown, value, () => clipped(JSON.stringify(value), value));
}

function clipped(text: string, whole: Json): Json {
  if (text.length * 3 <= SHOWN_BYTES) return whole;
  const bytes = utf8Length(text);
  if (bytes <= SHOWN_BYTES) return whole;
  const note = `[clipped: ${SHOWN_BYTES} of ${bytes} bytes are shown; ask for a smaller or another part]`;
  return `${utf8Prefix(text, SHOWN_BYTES)}\n${note}`;
}
