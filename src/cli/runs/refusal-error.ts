// The exit codes of refusals: one table for every command, with and without a server.

import type { Refusal } from "../../core/input.ts";
import { refusalText } from "../../core/refusal-text.ts";
import { ExitError, exits } from "../exit.ts";

const EXITS: Partial<Record<Refusal["code"], number>> = {
  "unknown-run": exits.notFound,
  "step-mismatch": exits.notFound,
  "step-not-open": exits.notFound,
  "run-finished": exits.locked,
  "hash-mismatch": exits.locked,
  "precondition-failed": exits.locked,
};

export function refusalError(refusal: Refusal): ExitError {
  return new ExitError(refusalText(refusal), EXITS[refusal.code] ?? exits.usage);
}
