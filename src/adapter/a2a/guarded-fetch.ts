// `fetch` for the official client, through the guard of all our requests: addresses are judged, time and
// size are bounded, and what went wrong on the way is a fault that says whether the request can have had an
// effect.

import { isObject } from "../../base/json.ts";
import { Fault, type TraceHeaders } from "../../engine/ports.ts";
import { faultOfStatus } from "../net/answer-fault.ts";
import { type GuardedResponse, guardedRequest, readBody } from "../net/guarded-request.ts";
import { ToolProblem } from "../tool/tool-problem.ts";
import type { AgentDefinition } from "./agent-definition.ts";

export interface FetchLimits {
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** What telemetry sends along. */
  readonly trace: TraceHeaders | undefined;
}

/** A stream is a shortcut: once open for so long, the task is looked at and another one opened. */
const STREAM_MS = 300_000;
/** A stream without a sign of life may have been left behind by its agent, and the task may be over. */
const STREAM_SILENT_MS = 30_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const ERROR_BYTES_MAX = 65_536;

export function guardedFetch(agent: AgentDefinition, limits: FetchLimits): typeof fetch {
  return async (target, init = {}) => {
    const url = new URL(target instanceof Request ? target.url : target);
    if (!agent.trusts(url))
      throw new ToolProblem(
        "place_refused",
        `\`${agent.label}\` leads to \`${url.origin}\`, which is not named`,
      );
    const headers = Object.fromEntries(new Headers(init.headers ?? {}));
    const streams = headers["accept"] === "text/event-stream";
    const { timeoutMs } = limits;
    const response = await guardedRequest({
      url: url.href,
      method: init.method ?? "GET",
      headers: { "user-agent": "packloop", ...headers, ...limits.trace, ...agent.headers() },
      ...(typeof init.body === "string" && { body: init.body }),
      rules: agent.rules,
      timeoutMs: streams ? STREAM_MS : timeoutMs,
      // The first word of a stream is its answer, and has the time of one.
      idleMs: streams ? Math.max(STREAM_SILENT_MS, timeoutMs) : timeoutMs,
      signal: init.signal ?? limits.signal,
    });
    if (!response.ok) throw new ToolProblem(response.code, response.message);
    return await answered(response, { agent, limits });
  };
}

/** What a server turned away, or failed at without an answer of its own, is a fault. */
async function answered(
  response: GuardedResponse,
  { agent, limits }: { readonly agent: AgentDefinition; readonly limits: FetchLimits },
): Promise<Response> {
  const { status } = response;
  if (status === 401 || status === 403) {
    response.body.destroy();
    const what = `refuses access (HTTP ${status}; check the variables its headers come from)`;
    throw new Fault("unauthorized", `agent \`${agent.label}\` ${what}`, { retry: "never" });
  }
  const fault = faultOfStatus({ ...response, host: new URL(response.url).host }, limits.now());
  if (fault === undefined) return asWeb(response, bodyOf(response, agent));
  const { bytes } = await readBody(response, { maxBytes: ERROR_BYTES_MAX, signal: limits.signal });
  if (fault.retry === "later" || !isProtocolError(bytes.toString())) throw fault;
  return asWeb(response, bytes);
}

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function asWeb({ status, headers }: GuardedResponse, body: AsyncIterable<Uint8Array> | Uint8Array): Response {
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    // The body is unpacked already.
    if (name === "content-encoding" || name === "content-length" || value === undefined) continue;
    kept.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  if (NO_BODY.has(status)) return new Response(null, { status, headers: kept });
  const stream = ReadableStream.from(body instanceof Uint8Array ? [body] : body);
  return new Response(stream, { status, headers: kept });
}

/** An answer that is too long, or breaks off, fails while it is read. */
async function* bodyOf({ body }: GuardedResponse, { label }: AgentDefinition): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX)
        throw new ToolProblem("too_large", `agent \`${label}\` sent more than ${ANSWER_BYTES_MAX} bytes`);
      yield new Uint8Array(chunk);
    }
  } catch (error) {
    if (error instanceof ToolProblem || error instanceof Fault) throw error;
    const words = error instanceof Error ? error.message : String(error);
    const message = `agent \`${label}\` did not finish its answer: ${words}`;
    throw new Fault("connection_lost", message, { retry: "unknown", cause: error });
  }
}

/** An error in the words of the protocol: JSON-RPC, or the status of its REST binding. */
function isProtocolError(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    const error = isObject(value) ? value["error"] : undefined;
    if (!isObject(value) || !isObject(error)) return false;
    return value["jsonrpc"] === "2.0" || Array.isArray(error["details"]);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
