// The exit codes of refusals: one table for every command.

import type { Refusal } from "../../core/input.ts";
import { refusalText } from "../../core/refusal-text.ts";
import { ExitError, exits } from "../exit.ts";

export function refusalError(refusal: Refusal): ExitError {
  const code =
    refusal.code === "unknown-run" || refusal.code === "step-not-open"
      ? exits.notFound
      : refusal.code === "hash-mismatch" || refusal.code === "precondition-failed"
        ? exits.locked
        : exits.usage;
  return new ExitError(refusalText(refusal), code);
}
