// What a question to a model or a tool is found again by.

import { hash } from "node:crypto";
import { canonical, type Json } from "../../base/json.ts";
import { HASH_LENGTH } from "../../core/request.ts";
import type { CallContext } from "../../engine/ports.ts";

export const askedHash = (asked: Json): string =>
  hash("sha256", canonical(asked), "hex").slice(0, HASH_LENGTH);

/** Where in a run, or in which of its children, a call is made; the same in every run of the same way. */
export function stepOf({ run, step }: Pick<CallContext, "run" | "step">): string {
  const below = run.indexOf("/");
  return below === -1 ? String(step) : `${run.slice(below + 1)}/${step}`;
}
