// What went wrong at a provider, as a fault with a stable code. The dispatcher tries `later` ones again.
//
// | code | means | tried again |
// | rate_limited | too many requests or tokens for now | when the provider says |
// | overloaded, network, timeout, dropped | the provider or the way to it is down | yes |
// | bad_response | an answer that cannot be read | yes |
// | no_key, unauthorized, quota | the key is missing, refused, or its money is spent | no |
// | no_model | the provider has no such model | no |
// | context_length, refusal, bad_request | this request will never be answered | no |

import { Fault } from "../../engine/ports.ts";
import { retryAfterMs } from "./retry-after.ts";

export interface FaultContext {
  readonly model: string;
  /** The environment variable that holds the key. */
  readonly keyEnv: string | undefined;
  readonly now: number;
}

export function modelFault(error: unknown, context: FaultContext): Fault {
  if (error instanceof Fault) return error;
  const trouble = troubleOf(error);
  const { code, hint } = codeOf(trouble, context);
  // What is said about a refused key may hold the key.
  const said = trouble.message === "" || trouble.status === 401 ? "" : `: ${trouble.message}`;
  const message = `\`${context.model}\` ${WORDS[code]}${said}${hint}`;
  const retry = LATER.has(code) ? "later" : "never";
  const afterMs = retry === "later" ? retryAfterMs(trouble, context.now) : undefined;
  return new Fault(code, message, { retry, ...(afterMs !== undefined && { afterMs }), cause: error });
}

type Code = keyof typeof WORDS;

const WORDS = {
  rate_limited: "is limited by its provider for now",
  overloaded: "is not available at its provider now",
  network: "cannot be reached",
  timeout: "did not answer in time",
  dropped: "stopped in the middle of an answer",
  bad_response: "gave an answer that cannot be read",
  no_key: "needs a key",
  unauthorized: "was refused by its provider",
  quota: "is not paid for any more",
  no_model: "is not known to its provider",
  context_length: "cannot take a conversation of this length",
  refusal: "refused to answer",
  bad_request: "did not accept the request",
  model_error: "failed",
} as const;

const LATER: ReadonlySet<Code> = new Set<Code>([
  "rate_limited",
  "overloaded",
  "network",
  "timeout",
  "dropped",
  "bad_response",
]);

interface Trouble {
  readonly name: string;
  readonly message: string;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Codes and types of the provider, and the text of its answer. */
  readonly codes: readonly string[];
  readonly body: string;
  readonly isRetryable: boolean;
  /** Code of the system or the HTTP client. */
  readonly cause: string;
}

function codeOf(trouble: Trouble, { keyEnv }: FaultContext): { readonly code: Code; readonly hint: string } {
  const code = byName(trouble) ?? bySaying(trouble) ?? byStatus(trouble) ?? byWay(trouble) ?? "model_error";
  const key = keyEnv === undefined ? "give the provider a valid key" : `set ${keyEnv} to a valid key`;
  if (code === "unauthorized" || code === "no_key") return { code, hint: ` (${key})` };
  if (code === "no_model") return { code, hint: " (check the model's name and `base_url`)" };
  if (code === "quota") return { code, hint: " (check the account's plan and billing)" };
  return { code, hint: "" };
}

const NAMES: Readonly<Record<string, Code>> = {
  AI_JSONParseError: "bad_response",
  AI_TypeValidationError: "bad_response",
  AI_InvalidResponseDataError: "bad_response",
  AI_EmptyResponseBodyError: "bad_response",
  AI_NoContentGeneratedError: "bad_response",
  AI_LoadAPIKeyError: "no_key",
  AI_NoSuchModelError: "no_model",
  AI_UnsupportedFunctionalityError: "bad_request",
  AI_InvalidPromptError: "bad_request",
  AI_InvalidArgumentError: "bad_request",
};

const byName = ({ name }: Trouble): Code | undefined =>
  Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;

/**
 * Two of the three providers name a full context only in their message, and one an invalid key, so that texts
 * are looked at where codes say nothing. Only refusals are: what is fine cannot be mistaken.
 */
function bySaying({ status, codes, message, body }: Trouble): Code | undefined {
  const isRefused = status === undefined || (status >= 400 && status < 500);
  if (!isRefused) return undefined;
  if (codes.some((code) => /context_length|exceed_context|request_too_large/.test(code)))
    return "context_length";
  if (codes.includes("insufficient_quota") || codes.includes("billing_error")) return "quota";
  if (status !== 400) return undefined;
  if (body.includes("API_KEY_INVALID")) return "unauthorized";
  if (/credit balance is too low/i.test(message)) return "quota";
  return CONTEXT_FULL.test(message) ? "context_length" : undefined;
}

const CONTEXT_FULL =
  /prompt is too long|maximum context length|context (window|size)|token count .* exceeds|too many tokens/i;

function byStatus({ status, isRetryable }: Trouble): Code | undefined {
  if (status === undefined) return undefined;
  if (status >= 500) return status === 504 ? "timeout" : "overloaded";
  if (status >= 200 && status < 300) return isRetryable ? "dropped" : "bad_response";
  const known: Readonly<Record<number, Code>> = {
    401: "unauthorized",
    402: "quota",
    403: "unauthorized",
    404: "no_model",
    408: "timeout",
    409: "overloaded",
    413: "context_length",
    429: "rate_limited",
  };
  return known[status] ?? "bad_request";
}

function byWay({ name, cause, isRetryable, codes }: Trouble): Code | undefined {
  if (cause === "UND_ERR_HEADERS_TIMEOUT" || cause === "UND_ERR_BODY_TIMEOUT") return "timeout";
  if (cause === "UND_ERR_SOCKET" || cause === "ECONNRESET") return "dropped";
  if (cause !== "" || isRetryable) return "network";
  // A stream may end with an error of the provider that has no status.
  if (codes.some((code) => /overloaded|server_error|unavailable|api_error/.test(code))) return "overloaded";
  // With an error that has no kind, packages of providers say that an answer is not what they expected.
  return name === "Error" ? "bad_response" : undefined;
}

/** Errors of the AI SDK are told by their names: a model object may come with its own copy of the package. */
function troubleOf(error: unknown): Trouble {
  const chain = chainOf(error);
  // The provider's own error says more than the one it is wrapped in.
  const main = chain.find((one) => typeof one["statusCode"] === "number") ?? chain.at(1) ?? chain[0] ?? {};
  const named = chain.find((one) => Object.hasOwn(NAMES, String(one["name"])));
  const body = typeof main["responseBody"] === "string" ? main["responseBody"] : "";
  const cause = chain
    .map((one) => one["code"])
    .find((code) => typeof code === "string" && /^(E|UND_)[A-Z_]+$/.test(code));
  return {
    name: String((named ?? main)["name"] ?? ""),
    message: oneLine(String(main["message"] ?? error)),
    status: typeof main["statusCode"] === "number" ? main["statusCode"] : undefined,
    headers: (main["responseHeaders"] ?? {}) as Readonly<Record<string, string>>,
    codes: codesOf(main["data"] ?? main),
    body,
    isRetryable: main["isRetryable"] === true,
    cause: typeof cause === "string" ? cause : "",
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** The error and its causes; a chain of wrappers is short. */
function chainOf(error: unknown): readonly Fields[] {
  const chain: Fields[] = [];
  for (let one = error; typeof one === "object" && one !== null && chain.length < 6; ) {
    chain.push(one as Fields);
    one = (one as Fields)["cause"];
  }
  return chain;
}

/** Providers put their codes at most three objects deep. */
function codesOf(data: unknown, depth = 3): readonly string[] {
  if (typeof data !== "object" || data === null || depth === 0) return [];
  const { error, response, code, type, status } = data as Fields;
  const own = [code, type, status].filter((one) => typeof one === "string");
  return [...own, ...codesOf(error, depth - 1), ...codesOf(response, depth - 1)];
}

/** Short, on one line, and without anything that looks like a key. */
const oneLine = (text: string): string =>
  text
    .slice(0, 500)
    .replace(/\s+/g, " ")
    .replace(/\b(sk-|AIza)[\w*-]+/g, "[key]")
    .trim();
