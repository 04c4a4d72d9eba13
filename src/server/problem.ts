// Errors of the API: RFC 9457 problem details. One table says which code has which status; refusals and
// faults of the engine keep their codes.

import type { JsonObject } from "../base/json.ts";
import type { Refusal } from "../core/input.ts";
import { refusalText } from "../core/refusal-text.ts";
import { Fault } from "../engine/ports.ts";

/** Code to status and title. A code once released keeps its meaning. */
export const PROBLEMS = {
  "bad-json": [400, "The body is not JSON"],
  "bad-request": [400, "The request does not fit its schema"],
  unauthenticated: [401, "A valid token is needed"],
  "scope-missing": [403, "The token does not allow this"],
  "host-refused": [403, "The Host header is not one of this server's"],
  "origin-refused": [403, "Requests from other sites are refused"],
  "not-found": [404, "There is nothing at this address"],
  "unknown-run": [404, "There is no such run"],
  "unknown-turn": [404, "The run has no such turn"],
  "unknown-step": [404, "The run has no such step"],
  "unknown-artifact": [404, "The run has no such artifact"],
  "unknown-pack": [404, "There is no such pack"],
  "unknown-webhook": [404, "There is no such webhook"],
  "method-not-allowed": [405, "The address does not take this method"],
  "request-timeout": [408, "The request took too long to arrive"],
  "run-finished": [409, "The run has ended"],
  "run-unfinished": [409, "The run has not ended"],
  "event-not-allowed": [409, "The event is not allowed here"],
  "not-waiting": [409, "The run waits for nobody"],
  "step-mismatch": [409, "The step was never asked"],
  "step-not-open": [409, "The step is not open"],
  "pending-tool-mismatch": [409, "The step waits for something else"],
  "hash-mismatch": [409, "The arguments changed meanwhile"],
  "request-in-flight": [409, "A request with this key is being answered"],
  "precondition-failed": [412, "The run has moved on"],
  "payload-too-large": [413, "The body is too large"],
  "unsupported-media-type": [415, "The body has a type that is not taken"],
  "pack-invalid": [422, "The pack has errors"],
  "script-invalid": [422, "The script has errors"],
  "bad-variables": [422, "Variables are missing or wrong"],
  "bad-limit": [422, "Limits can only be tightened"],
  "bad-artifact": [422, "An artifact cannot be written so"],
  "bad-arguments": [422, "The arguments do not fit the tool"],
  "unknown-state": [422, "The pack has no such state"],
  "unknown-prompt": [422, "The pack has no such prompt"],
  "unknown-agent": [422, "The pack has no such agent"],
  unsupported: [422, "This version cannot run it"],
  "cannot-start": [422, "What the run needs is not there"],
  "idempotency-key-reused": [422, "The key belongs to another request"],
  "rate-limited": [429, "Too many requests"],
  "too-many-readers": [429, "Too many followers"],
  "too-many-webhooks": [429, "Too many webhooks"],
  internal: [500, "The server made a mistake"],
  "store-corrupt": [500, "What is stored is damaged"],
  "store-unavailable": [503, "The store cannot be used"],
  "shutting-down": [503, "The server is stopping"],
} as const satisfies Readonly<Record<string, readonly [status: number, title: string]>>;

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
  const [status, title] = PROBLEMS[code];
  const type = `urn:packloop:problem:${code}`;
  return { type, title, status, detail: message, instance, code, ...(extras as JsonObject) };
}

export function refusalProblem(refusal: Refusal): Problem {
  const { code, ...rest } = refusal;
  const allowed = "allowed" in refusal ? { allowed_events: refusal.allowed } : {};
  return new Problem(code, refusalText(refusal), { extras: { ...allowed, refusal: rest } });
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
