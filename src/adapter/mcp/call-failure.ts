// What went wrong with a request to an MCP server, sorted by what may follow from it: an answer of the server
// is shown to the model; what never left is tried again; a request that left and whose answer is lost is sent
// again only for tools that may be repeated (S46).

import { isObject } from "../../base/json.ts";
import { Fault, type ToolAnswer } from "../../engine/ports.ts";
import { errorChain } from "../error-chain.ts";
import { cut } from "./tool-result.ts";

/** Marks the error that stands in for the answer of a response stream that ended without one. */
export const streamEnded = { reason: "the response stream ended" } as const;

/** An answer that is over the limit of a connection. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";
}

export interface FailurePlace {
  readonly label: string;
  /** Nothing has been asked of the tool while the connection is being made. */
  readonly phase: "connect" | "call";
  /** The request may be sent again. */
  readonly safe: boolean;
  /** What the server wrote to its error stream last. */
  readonly tail: string;
  readonly retryAfterMs: number | undefined;
  readonly redact: (text: string) => string;
}

/** The answer to show, or the fault to throw. */
export function failureOf(error: unknown, place: FailurePlace): Failed | Fault {
  const code = codeOf(error);
  if (typeof code === "number" && dataOf(error) !== streamEnded)
    return protocolAnswer(code, { error, place });
  if (code === "INVALID_RESULT" || code === "UNSUPPORTED_RESULT_TYPE" || code === "LIST_PAGINATION_EXCEEDED")
    return failed("bad_answer", said(place, "answered against the protocol", error));
  if (errorChain(error).some((one) => one instanceof TooLarge))
    return failed("too_large", said(place, "sent too much", error));
  return faultOf(error, place);
}

function protocolAnswer(
  code: number,
  { error, place }: { readonly error: unknown; readonly place: FailurePlace },
): Failed {
  const words = said(place, `refused the request (${code})`, error);
  return failed(code === INVALID_PARAMS ? "invalid_arguments" : "mcp_error", words);
}

const INVALID_PARAMS = -32602;

/** A failure that the model is shown. */
export type Failed = Extract<ToolAnswer, { readonly ok: false }>;

const failed = (code: string, message: string): Failed => ({ ok: false, code, message });

export function faultOf(error: unknown, place: FailurePlace): Fault {
  if (error instanceof Fault) return error;
  const { phase, retryAfterMs } = place;
  const status = statusOf(error);
  if (status !== undefined) return httpFault(error, { status, place });
  const missing = errorChain(error).find((one) => ["ENOENT", "EACCES"].includes(String(codeOf(one))));
  if (missing !== undefined)
    return fault("mcp_not_started", place, { what: "cannot be started", error: missing, retry: "never" });
  const code = codeOf(error);
  if (code === "REQUEST_TIMEOUT" && phase === "call")
    return fault("timeout", place, { what: "did not answer in time", error, retry: repeat(place) });
  if (phase === "connect" || errorChain(error).some((one) => NEVER_SENT.has(String(codeOf(one)))))
    return fault("mcp_unavailable", place, {
      what: "cannot be reached",
      error,
      retry: "later",
      retryAfterMs,
    });
  return lost(error, place);
}

const NEVER_SENT: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "NOT_CONNECTED"]);

function httpFault(
  error: unknown,
  { status, place }: { readonly status: number; readonly place: FailurePlace },
): Fault {
  const { phase, retryAfterMs } = place;
  if (status === 401 || status === 403) {
    const what = `refuses access (HTTP ${status}; check the variables its headers come from)`;
    return fault("unauthorized", place, { what, error: undefined, retry: "never" });
  }
  if (status === 404 && phase === "call") {
    const what = "has forgotten the session, and the next attempt begins another";
    return fault("session_gone", place, { what, error: undefined, retry: "later" });
  }
  if (status === 429 || status === 503) {
    const what = `is not ready (HTTP ${status})`;
    return fault("mcp_unavailable", place, { what, error: undefined, retry: "later", retryAfterMs });
  }
  if (status === 408 || status >= 500) return lost(error, place);
  return fault("mcp_refused", place, { what: `refuses the request (HTTP ${status})`, error, retry: "never" });
}

function lost(error: unknown, place: FailurePlace): Fault {
  if (place.phase === "connect")
    return fault("mcp_unavailable", place, { what: "cannot be reached", error, retry: "later" });
  if (place.safe)
    return fault("connection_lost", place, { what: "did not finish its answer", error, retry: "later" });
  const what = "did not finish its answer, and whether the call took effect is unknown";
  return fault("in_doubt", place, { what, error, retry: "unknown" });
}

const repeat = ({ safe }: FailurePlace): Fault["retry"] => (safe ? "later" : "unknown");

interface FaultText {
  readonly what: string;
  readonly error: unknown;
  readonly retry: Fault["retry"];
  readonly retryAfterMs?: number | undefined;
}

function fault(code: string, place: FailurePlace, { what, error, retry, retryAfterMs }: FaultText): Fault {
  const message = said(place, what, error);
  return new Fault(code, message, { retry, ...(retryAfterMs !== undefined && { afterMs: retryAfterMs }) });
}

/** The cause stays out of the fault: it may hold headers or arguments that nobody has redacted. */
function said({ label, tail, redact }: FailurePlace, what: string, error: unknown): string {
  const reason = error === undefined ? "" : `: ${reasonOf(error)}`;
  const last = tail === "" ? "" : `; it last wrote: ${tail}`;
  return redact(cut(`MCP server \`${label}\` ${what}${reason}${last}`, MESSAGE_BYTES));
}

const MESSAGE_BYTES = 2048;

function reasonOf(error: unknown): string {
  const words = errorChain(error).map((one) => (one instanceof Error ? one.message : String(one)));
  return [...new Set(words)].join(": ");
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

const dataOf = (error: unknown): unknown =>
  error instanceof Error && "data" in error ? error.data : undefined;

function statusOf(error: unknown): number | undefined {
  const data = errorChain(error)
    .map(dataOf)
    .find((one) => isObject(one) && typeof one["status"] === "number");
  return isObject(data) ? (data["status"] as number) : undefined;
}
