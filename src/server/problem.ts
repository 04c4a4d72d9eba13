// Errors of the API: RFC 9457 problem details. One table says which code has which status; refusals and
// faults of the engine keep their codes.

import type { JsonObject } from "../base/json.ts";
import type { Refusal } from "../core/input.ts";
import { refusalText } from "../core/refusal-text.ts";
import { Fault } from "../engine/ports.ts";

/** Code to status, exit code of who hears it in a command, and title. A code keeps its meaning for ever. */
export const PROBLEMS = {
  "bad-json": [400, 2, "The body is not JSON"],
  "bad-request": [400, 2, "The request does not fit its schema"],
  unauthenticated: [401, 4, "A valid token is needed"],
  "scope-missing": [403, 4, "The token does not allow this"],
  "self-approval": [403, 4, "Who started a run does not approve its calls"],
  "host-refused": [403, 4, "The Host header is not one of this server's"],
  "origin-refused": [403, 4, "Requests from other sites are refused"],
  "not-found": [404, 5, "There is nothing at this address"],
  "unknown-run": [404, 5, "There is no such run"],
  "unknown-turn": [404, 5, "The run has no such turn"],
  "unknown-step": [404, 5, "The run has no such step"],
  "unknown-artifact": [404, 5, "The run has no such artifact"],
  "unknown-blob": [404, 5, "There is no such content"],
  "unknown-pack": [404, 5, "There is no such pack"],
  "unknown-webhook": [404, 5, "There is no such webhook"],
  "unknown-token": [404, 5, "There is no such token"],
  "method-not-allowed": [405, 2, "The address does not take this method"],
  "request-timeout": [408, 1, "The request took too long to arrive"],
  "run-finished": [409, 6, "The run has ended"],
  "run-exists": [409, 2, "Another run of that name is here"],
  "run-unfinished": [409, 6, "The run has not ended"],
  "event-not-allowed": [409, 2, "The event is not allowed here"],
  "not-waiting": [409, 2, "The run waits for nobody"],
  "step-not-open": [409, 5, "The step is not open"],
  "pending-tool-mismatch": [409, 2, "The step waits for something else"],
  "hash-mismatch": [409, 6, "The arguments changed meanwhile"],
  "store-locked": [409, 6, "Another process holds the store"],
  "request-in-flight": [409, 6, "A request with this key is being answered"],
  "token-exists": [409, 2, "There is a token of that name"],
  "run-removed": [410, 5, "The run was removed"],
  "cursor-expired": [410, 2, "The position is too old to go on from"],
  "precondition-failed": [412, 6, "The run has moved on"],
  "payload-too-large": [413, 2, "The body is too large"],
  "unsupported-media-type": [415, 2, "The body has a type that is not taken"],
  "pack-invalid": [422, 2, "The pack has errors"],
  "script-invalid": [422, 2, "The script has errors"],
  "variable-invalid": [422, 2, "Variables are missing or wrong"],
  "budget-not-tighter": [422, 2, "Limits can only be tightened"],
  "bad-artifact": [422, 2, "An artifact cannot be written so"],
  "bad-arguments": [422, 2, "The arguments do not fit the tool"],
  "unknown-state": [422, 2, "The pack has no such state"],
  "unknown-prompt": [422, 2, "The pack has no such prompt"],
  "unknown-agent": [422, 2, "The pack has no such agent"],
  unsupported: [422, 2, "This version cannot run it"],
  "cannot-start": [422, 2, "What the run needs is not there"],
  "idempotency-key-reused": [422, 2, "The key belongs to another request"],
  "rate-limited": [429, 1, "Too many requests"],
  "too-many-readers": [429, 1, "Too many followers"],
  "too-many-webhooks": [429, 1, "Too many webhooks"],
  "headers-too-large": [431, 2, "The headers are too large"],
  internal: [500, 3, "The server made a mistake"],
  "store-corrupt": [500, 3, "What is stored is damaged"],
  "store-unavailable": [503, 3, "The store cannot be used"],
  "shutting-down": [503, 6, "The server is stopping"],
} as const satisfies Readonly<Record<string, readonly [status: number, exit: number, title: string]>>;

export type ProblemCode = keyof typeof PROBLEMS;

export interface ProblemExtras {
  /** Where in the request something is wrong. */
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
  readonly [name: string]: unknown;
}

/** Thrown by whoever finds it, shown by the app. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly extras: ProblemExtras;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    options: { extras?: ProblemExtras; headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(detail, { cause: options.cause });
    this.code = code;
    this.extras = options.extras ?? {};
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return PROBLEMS[this.code][0];
  }
}

export function problemBody({ code, message, extras }: Problem, instance: string): JsonObject {
  const [status, , title] = PROBLEMS[code];
  const type = `urn:packloop:problem:${code}`;
  return { type, title, status, detail: message, instance, code, ...(extras as JsonObject) };
}

/** Refusals that the API knows under a name of its own; their own is in `refusal`. */
const NAMES = {
  "bad-variables": "variable-invalid",
  "bad-limit": "budget-not-tighter",
  "step-mismatch": "unknown-step",
} as const satisfies Partial<Record<Refusal["code"], ProblemCode>>;

export function refusalProblem(refusal: Refusal): Problem {
  const { code } = refusal;
  const name =
    code === "bad-variables" || code === "bad-limit" || code === "step-mismatch" ? NAMES[code] : code;
  return new Problem(name, refusalText(refusal), { extras: { ...extrasOf(refusal), refusal } });
}

function extrasOf(refusal: Refusal): ProblemExtras {
  if ("allowed" in refusal) return { allowed_events: refusal.allowed };
  if (refusal.code === "bad-limit") return { limit: refusal.pack };
  if (refusal.code !== "bad-variables") return {};
  return { errors: refusal.problems.map((message) => ({ pointer: "/variables", message })) };
}

/** What was thrown, as what the client is told. Nothing of a defect is shown but that there was one. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (!(error instanceof Fault)) return new Problem("internal", "something went wrong", { cause: error });
  const { code, message } = error;
  if (isProblemCode(code)) return new Problem(code, message, { cause: error });
  if (code.startsWith("store-")) return new Problem("store-unavailable", message, { cause: error });
  return new Problem("internal", "something went wrong", { cause: error });
}

const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(PROBLEMS, code);
