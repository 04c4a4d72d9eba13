// The name of a run that was given none. Delivery is at least once: the same start must find the same run, so
// the name is derived from what the host repeats.

import { get, type JsonObject } from "../base/json.ts";
import { sha256Of } from "../base/sha256.ts";

export const RUN_ID = /^[A-Za-z0-9_-]{1,64}$/;

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const LENGTH = 25;

export function derivedRunId(event: JsonObject, jobId: string): string {
  const key = get(event, "dedupe_key");
  const id = get(event, "event_id");
  const seed =
    typeof key === "string" && key.trim() !== ""
      ? `key:${key}`
      : typeof id === "string" && id !== ""
        ? `evt:${id}`
        : `job:${jobId}`;
  return `r${base32(sha256Of(`agentic:run\0${seed}`)).slice(0, LENGTH)}`;
}

/** RFC 4648, small letters, without padding. */
function base32(hex: string): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const digit of hex) {
    value = ((value << 4) | Number.parseInt(digit, 16)) & 0xfff;
    bits += 4;
    if (bits < 5) continue;
    bits -= 5;
    text += ALPHABET[(value >> bits) & 31] ?? "";
  }
  return text;
}
