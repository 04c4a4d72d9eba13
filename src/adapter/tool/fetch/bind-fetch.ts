// The built-in tool `http`: fetches a page and gives its readable text, with where and when it came from and
// the hash of what was received. What comes back was written by others: it is data, never an instruction.

import { createHash } from "node:crypto";
import { TextDecoder } from "node:util";
import { isoTime } from "../../../base/iso-time.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { CallContext } from "../../../engine/ports.ts";
import { faultOfStatus } from "../../net/answer-fault.ts";
import { type GuardedResponse, guardedRequest, readBody } from "../../net/guarded-request.ts";
import { type HeaderOptions, readHeaders, readNetRules } from "../../net/net-options.ts";
import type { NetRules } from "../../net/net-rules.ts";
import type { BoundTool, Surroundings } from "../bound-tool.ts";
import { argumentReader } from "../call-arguments.ts";
import type { OptionReader } from "../option-reader.ts";
import { answerOf, ToolProblem } from "../tool-problem.ts";
import { pageText } from "./page-text.ts";

interface FetchOptions {
  readonly rules: NetRules;
  readonly headers: HeaderOptions;
  readonly method: "GET" | "HEAD";
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

const SPELLINGS = { url: ["link", "uri", "href", "address"] };

export function bindFetch(reader: OptionReader, around: Surroundings): BoundTool {
  const argumentsOf = argumentReader(reader, SPELLINGS);
  const options: FetchOptions = {
    rules: readNetRules(reader),
    headers: readHeaders(reader, around),
    method: reader.oneOf("method", ["GET", "HEAD"]) ?? "GET",
    maxBytes: reader.number("max_bytes", { least: 1, most: 10_000_000 }) ?? 5_000_000,
    timeoutMs: (reader.number("timeout_sec", { least: 0.1, most: 600 }) ?? 30) * 1000,
  };
  // The model chooses the URL, so without a list of hosts it could have the secret sent anywhere.
  if (options.headers.secret && options.rules.allowHosts === undefined) {
    reader.wrongWhole(
      "a header from the environment needs `allow_hosts`: it must not be sent to just any host",
    );
  }
  return {
    tier: "egress",
    safe: true,
    definition: { description: DESCRIPTION, parameters: PARAMETERS },
    call: (args, context) =>
      answerOf(() => fetchPage(argumentsOf(args).neededText("url"), { options, around, context })),
  };
}

const DESCRIPTION = "Fetches a web page, a text or a JSON document by its URL and returns its readable text.";
const PARAMETERS: JsonObject = {
  type: "object",
  properties: { url: { type: "string", description: "an http or https URL" } },
  required: ["url"],
};

interface Call {
  readonly options: FetchOptions;
  readonly around: Surroundings;
  readonly context: CallContext;
}

async function fetchPage(url: string, { options, around, context }: Call): Promise<JsonObject> {
  const { rules, method, maxBytes, timeoutMs } = options;
  const { signal } = context;
  const headers = { accept: ACCEPTED, "user-agent": "packloop", ...options.headers.values() };
  const response = await guardedRequest({ url, method, headers, rules, timeoutMs, signal });
  if (!response.ok) throw new ToolProblem(response.code, response.message);
  const fault = faultOfStatus({ ...response, host: new URL(response.url).hostname }, around.clock.now());
  if (fault !== undefined) {
    response.body.destroy();
    throw fault;
  }
  const head = { url: response.url, status: response.status, fetched_at: isoTime(around.clock.now()) };
  if (method === "HEAD") {
    response.body.destroy();
    return { ...head, ...headOf(response) };
  }
  const kind = kindOf(response);
  const { bytes, truncated } = await readBody(response, { maxBytes, signal });
  const { title, markdown } = await readable(decodeText(bytes, response), {
    kind,
    url: response.url,
    signal,
  });
  return {
    ...head,
    title,
    markdown: options.headers.hide(markdown).slice(0, maxBytes),
    sha256: createHash("sha256").update(bytes).digest("hex"),
    ...(truncated && { truncated: cutNote(response, bytes.length) }),
  };
}

const ACCEPTED = "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9";

type Kind = "html" | "json" | "text";

const mediaType = ({ headers }: GuardedResponse): string =>
  (headers["content-type"] ?? "text/plain").split(";", 1)[0]?.trim().toLowerCase() ?? "";

function kindOf(response: GuardedResponse): Kind {
  const type = mediaType(response);
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (/^application\/(json|[\w.+-]+\+json|x-ndjson|jsonl)$/.test(type)) return "json";
  if (/^text\/[\w.+-]+$/.test(type) || /^application\/(xml|yaml|x-yaml|toml|[\w.+-]+\+xml)$/.test(type))
    return "text";
  response.body.destroy();
  throw new ToolProblem("type_refused", `\`${type}\` cannot be read as text (pages, texts and JSON can)`);
}

async function readable(
  text: string,
  { kind, url, signal }: { kind: Kind; url: string; signal: AbortSignal },
) {
  return kind === "html" ? pageText({ html: text, url }, signal) : { title: "", markdown: text };
}

/** By the charset of the header, else of the page; unknown ones are read as UTF-8. */
function decodeText(bytes: Buffer, { headers }: GuardedResponse): string {
  const inHeader = /charset\s*=\s*"?([\w-]+)/i.exec(headers["content-type"] ?? "")?.[1];
  const inPage = /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]+)/i.exec(bytes.toString("latin1", 0, 2048))?.[1];
  return decoderOf(inHeader ?? inPage ?? "utf-8").decode(bytes);
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder();
    throw error;
  }
}

function headOf(response: GuardedResponse): JsonObject {
  const length = Number(response.headers["content-length"]);
  return {
    content_type: mediaType(response),
    ...(Number.isSafeInteger(length) && { bytes: length }),
    ...(response.headers["last-modified"] !== undefined && {
      last_modified: response.headers["last-modified"],
    }),
  };
}

function cutNote({ headers }: GuardedResponse, kept: number): string {
  const whole = headers["content-encoding"] === undefined ? Number(headers["content-length"]) : Number.NaN;
  const rest = Number.isSafeInteger(whole)
    ? `${whole - kept} of ${whole} bytes are left out`
    : "the rest is left out";
  return `only the first ${kept} bytes were read; ${rest}`;
}
