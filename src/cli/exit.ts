// Exit codes, and the one way a command stops with a message instead of a result.

import type { Fault } from "../engine/ports.ts";

export const exits = {
  ok: 0,
  findings: 1,
  usage: 2,
  defect: 3,
  notPermitted: 4,
  notFound: 5,
  locked: 6,
  waiting: 10,
  budgetExhausted: 11,
  cancelled: 12,
  interrupted: 130,
  terminated: 143,
} as const;

/** A message for the user and the code to leave with. Never about a defect of ours. */
export class ExitError extends Error {
  override readonly name = "ExitError";
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

/** One clause with the value in backquotes, then the remedy. */
export const usageError = (message: string): ExitError => new ExitError(message, exits.usage);

const NOT_FOUND = new Set(["store-empty", "unknown-run", "unknown-turn", "unknown-step", "unknown-pack"]);

/** A fault of the world, the store above all: nobody's usage and no defect of ours, but one clear line. */
export function faultError({ code, message }: Fault): ExitError {
  if (NOT_FOUND.has(code)) return new ExitError(message, exits.notFound);
  if (code === "store-locked") return new ExitError(message, exits.locked);
  return new ExitError(message, code === "store-unavailable" ? exits.defect : exits.usage);
}
