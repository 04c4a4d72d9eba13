// A tool behind an HTTP endpoint: `http: {url, method?, headers?, body?}`. JSON goes in, JSON comes out.
// The URL is written by whoever configures the tool, so its own host may be private: that is a deliberate
// choice. Redirects are not, and are judged like any other.

import { isObject, type Json, type JsonObject } from "../../../base/json.ts";
import type { CallContext } from "../../../engine/ports.ts";
import { faultOfStatus } from "../../net/answer-fault.ts";
import { type GuardedResponse, guardedRequest, readBody } from "../../net/guarded-request.ts";
import { type HeaderOptions, readHeaders } from "../../net/net-options.ts";
import { hostOf, placeOf } from "../../net/net-rules.ts";
import type { BoundTool, Surroundings } from "../bound-tool.ts";
import { OptionReader } from "../option-reader.ts";
import { answerOf, ToolProblem } from "../tool-problem.ts";
import { fillBody } from "./body-template.ts";
import { addQuery, readUrlTemplate, type UrlTemplate } from "./url-template.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const;

/** How much of an error's text a model is shown. */
const ERROR_TEXT_MAX = 500;

interface EndpointOptions {
  readonly url: UrlTemplate | undefined;
  readonly method: (typeof METHODS)[number];
  readonly headers: HeaderOptions;
  readonly body: Json | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export function bindEndpoint(reader: OptionReader, around: Surroundings): BoundTool {
  const options = readOptions(reader, around);
  const reads = options.method === "GET" || options.method === "HEAD";
  return {
    tier: "egress",
    safe: reads,
    call: (args, context) => answerOf(() => ask(args, { options, around, context })),
  };
}

function readOptions(reader: OptionReader, around: Surroundings): EndpointOptions {
  const section = reader.section("http") ?? new OptionReader({}, []);
  const options: EndpointOptions = {
    url: urlOption(section),
    method: section.oneOf("method", METHODS) ?? "POST",
    headers: readHeaders(section, around),
    body: section.any("body"),
    timeoutMs: (section.number("timeout_sec", { least: 0.1, most: 3600 }) ?? 120) * 1000,
    maxBytes: section.number("max_bytes", { least: 1, most: 10_000_000 }) ?? 1_000_000,
  };
  if (options.body !== undefined && (options.method === "GET" || options.method === "HEAD"))
    section.wrong(
      "body",
      `a ${options.method} has no body (use another \`method\`, or put arguments in the URL)`,
    );
  section.end();
  return options;
}

function urlOption(section: OptionReader): UrlTemplate | undefined {
  const text = section.neededText("url");
  if (text === "") return undefined;
  const template = readUrlTemplate(text);
  if (typeof template !== "string") return template;
  section.wrong("url", template);
  return undefined;
}

interface Call {
  readonly options: EndpointOptions;
  readonly around: Surroundings;
  readonly context: CallContext;
}

async function ask(args: Json, { options, around, context }: Call): Promise<Json> {
  const { url, method, headers, timeoutMs, maxBytes } = options;
  if (url === undefined) throw new ToolProblem("not_configured", "the URL of this tool is wrong");
  const { signal } = context;
  const { target, body } = requestOf(args, url, options);
  const response = await guardedRequest({
    url: target.href,
    method,
    headers: {
      accept: "application/json",
      "user-agent": "packloop",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers.values(),
      // The same for every attempt at this step, so that a server can tell a repetition (S46).
      "idempotency-key": context.key,
      ...context.trace?.headers,
    },
    ...(body !== undefined && { body }),
    rules: { allowPrivate: [placeOf(url.origin)] },
    timeoutMs,
    signal,
  });
  if (!response.ok) throw new ToolProblem(response.code, response.message);
  const fault = faultOfStatus({ ...response, host: hostOf(url.origin) }, around.clock.now());
  if (fault !== undefined) {
    response.body.destroy();
    throw fault;
  }
  const { bytes, truncated } = await readBody(response, { maxBytes, signal });
  return resultOf(response, { text: headers.hide(bytes.toString("utf8")), truncated, maxBytes });
}

function requestOf(args: Json, url: UrlTemplate, { method, body }: EndpointOptions) {
  const given: JsonObject = isObject(args) ? args : {};
  const target = url.fill(given);
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !url.names.has(name)));
  if (method === "GET" || method === "HEAD") {
    addQuery(target, rest);
    return { target, body: undefined };
  }
  const isBare = body === undefined && method === "DELETE" && Object.keys(rest).length === 0;
  const content = body === undefined ? rest : fillBody(body, given);
  return { target, body: isBare ? undefined : JSON.stringify(content ?? null) };
}

interface Received {
  readonly text: string;
  readonly truncated: boolean;
  readonly maxBytes: number;
}

function resultOf({ status, headers }: GuardedResponse, { text, truncated, maxBytes }: Received): Json {
  if (status >= 300) {
    const shown = text.length > ERROR_TEXT_MAX ? `${text.slice(0, ERROR_TEXT_MAX)}…` : text;
    throw new ToolProblem(`http_${status}`, `the endpoint answered with status ${status}: ${shown}`);
  }
  const isJson = /^application\/([\w.-]+\+)?json\b/i.test(headers["content-type"] ?? "");
  if (truncated && isJson) {
    throw new ToolProblem(
      "too_large",
      `the answer has more than ${maxBytes} bytes (\`max_bytes\`; ask for less)`,
    );
  }
  if (text.trim() === "") return null;
  if (!isJson) return truncated ? `${text}\n[… more than ${maxBytes} bytes, the rest is left out]` : text;
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ToolProblem("bad_output", "the endpoint answered with something that is not JSON", {
      cause: error,
    });
  }
}
