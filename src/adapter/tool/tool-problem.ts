// What a built-in tool refuses or cannot do. Thrown where it is noticed, deep in a path or a process, and
// turned into the tool's error result at one place.

import type { Json } from "../../base/json.ts";
import { Fault, type Later, type ToolAnswer } from "../../engine/ports.ts";
import { toolError } from "./bound-tool.ts";

export class ToolProblem extends Error {
  override readonly name = "ToolProblem";
  readonly code: string;

  constructor(code: string, message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The result of the work, or the problem it met as an error result. */
export async function answerOf(work: () => Promise<Json | Later>): Promise<ToolAnswer> {
  try {
    const value = await work();
    return isLater(value) ? value : { ok: true, value };
  } catch (error) {
    if (error instanceof ToolProblem) return toolError(error.code, error.message);
    return refusedBySystem(error);
  }
}

// No result of a built-in tool has this field; `Later` is told from a result by it.
const isLater = (value: Json | Later): value is Later =>
  typeof value === "object" && value !== null && "deferred" in value;

/** Codes of the system that may be gone at the next attempt. */
const PASSING = new Set(["EAGAIN", "EBUSY", "EIO", "EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "EDQUOT"]);
const DENIED = new Set(["EACCES", "EPERM", "EROFS"]);

/** The system's own words are not shown: they name paths that mean nothing to a model. */
function refusedBySystem(error: unknown): ToolAnswer {
  const code = errorCode(error);
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) throw error;
  if (PASSING.has(code))
    throw new Fault("system", `the system said ${code}`, { retry: "later", cause: error });
  if (DENIED.has(code)) return toolError("denied", `the system does not permit it (${code})`);
  return toolError("system", `the system refused it (${code})`);
}

/** The code of an error of the system, as `ENOENT`. By its shape: errors of other realms are no `Error` here. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}
