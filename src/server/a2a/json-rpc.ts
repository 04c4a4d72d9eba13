// The JSON-RPC binding: what the package's transports leave open (what is no JSON, what is no request, which
// version is spoken), and streams as server-sent events.

import { A2A_PROTOCOL_VERSION } from "@a2a-js/sdk";
import {
  A2A_ERROR_CODE,
  ContentTypeNotSupportedError,
  toJsonRpcError,
  VersionNotSupportedError,
} from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import { eventStream } from "../event-stream.ts";
import { Problem } from "../problem.ts";
import type { JournalAgent } from "./journal-agent.ts";
import { asA2aError } from "./protocol-error.ts";
import { checkSendParams } from "./sent-message.ts";
import { jsonBody, type ServedRequest } from "./served-request.ts";

type Envelope = Record<string, unknown>;

export async function answerJsonRpc(served: ServedRequest, agent: JournalAgent): Promise<Response> {
  let body: Json | undefined;
  try {
    body = await jsonBody(served.request);
  } catch (error) {
    return json(refusedBody(error));
  }
  const id = idOf(body);
  if (!isObject(body) || id === undefined || body["jsonrpc"] !== "2.0" || typeof body["method"] !== "string")
    return json(failure(id ?? null, A2A_ERROR_CODE.INVALID_REQUEST, "this is not a request of JSON-RPC 2.0"));
  const { version, log } = served;
  try {
    const result = await handled(body, version, agent);
    if (agent.problem !== undefined) throw agent.problem;
    return isStream(result) ? await streamed(served, result, { id, agent }) : json(result as Envelope);
  } catch (error) {
    if (agent.problem !== undefined) throw agent.problem;
    return json({ jsonrpc: "2.0", id, error: toJsonRpcError(asA2aError(error, log)) });
  }
}

function refusedBody(error: unknown): Envelope {
  if (!(error instanceof Problem)) throw error;
  if (error.code === "unsupported-media-type") {
    const refused = new ContentTypeNotSupportedError({ message: error.message, cause: error });
    return { jsonrpc: "2.0", id: null, error: toJsonRpcError(refused) };
  }
  if (error.code === "bad-json") return failure(null, A2A_ERROR_CODE.PARSE_ERROR, error.message);
  throw error;
}

/** Undefined when it is none. */
function idOf(body: Json | undefined): string | number | null | undefined {
  const id = isObject(body) ? (body["id"] ?? null) : null;
  return id === null || typeof id === "string" || Number.isInteger(id) ? (id as string | number) : undefined;
}

const failure = (id: string | number | null, code: number, message: string): Envelope => ({
  ...{ jsonrpc: "2.0", id, error: { code, message } },
});

async function handled(body: JsonObject, version: string, agent: JournalAgent): Promise<unknown> {
  const context = new ServerCallContext({ requestedVersion: version });
  if (version === A2A_PROTOCOL_VERSION) {
    const method = body["method"];
    if (method === "SendMessage" || method === "SendStreamingMessage") checkSendParams(body["params"]);
    return new JsonRpcTransportHandler(agent).handle({ ...body }, context);
  }
  if (version !== "0.3") throw unknownVersion(version);
  const { LegacyJsonRpcTransportHandler } = await import("@a2a-js/sdk/compat/v0_3/server");
  return new LegacyJsonRpcTransportHandler(agent).handle({ ...body }, context);
}

export const unknownVersion = (version: string): Error =>
  new VersionNotSupportedError(
    `version \`${version.slice(0, 50)}\` of A2A is not spoken here (send A2A-Version: ${A2A_PROTOCOL_VERSION})`,
  );

const isStream = (result: unknown): result is AsyncGenerator<Envelope, void, undefined> =>
  typeof result === "object" && result !== null && Symbol.asyncIterator in result;

/** What is wrong with the request is an answer of its own; only what begins well becomes a stream. */
async function streamed(
  { leave, log }: ServedRequest,
  events: AsyncGenerator<Envelope, void, undefined>,
  { id, agent }: { readonly id: string | number | null; readonly agent: JournalAgent },
): Promise<Response> {
  const first = await events.next();
  async function* texts(): AsyncGenerator<string> {
    try {
      if (first.done !== true) yield eventText(first.value);
      for await (const event of events) yield eventText(event);
    } catch (error) {
      const said = agent.problem ?? asA2aError(error, log);
      yield eventText({ jsonrpc: "2.0", id, error: toJsonRpcError(said) });
    }
  }
  return eventStream(texts(), { leave });
}

const eventText = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

const json = (body: Envelope): Response =>
  new Response(JSON.stringify(body), { headers: { "content-type": "application/json; charset=utf-8" } });
