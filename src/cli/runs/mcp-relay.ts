// MCP on standard streams where a server holds the store: every message goes to the server's `/mcp`, and what
// it answers comes back. Nothing is kept here.

import {
  type JSONRPCMessage,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { get, isObject, type Json } from "../../base/json.ts";

type Id = string | number;

const INTERNAL_ERROR = -32603;

/** Resolves when the client has gone. */
export async function relayMcp(url: string, token: string | undefined): Promise<void> {
  const headers = token === undefined || token === "" ? {} : { authorization: `Bearer ${token}` };
  const http = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } });
  const wire = new StdioServerTransport();
  const pending = new Map<Id, AbortController>();
  const answer = (message: JSONRPCMessage): void => {
    if ("id" in message && !("method" in message) && message.id !== undefined) pending.delete(message.id);
    // A client that has gone hears nothing more; the runs do not notice.
    wire.send(message).catch(() => undefined);
  };
  const fail = (id: Id, error: unknown): void => {
    if (pending.has(id)) answer(errorFor(id, error, url));
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the only way in a transport has
  http.onmessage = answer;
  const gone = Promise.withResolvers<void>();
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the only way in a transport has
  wire.onclose = () => gone.resolve();
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the only way in a transport has
  wire.onmessage = (message) => {
    if (givenUp(message, pending)) return;
    const id = "method" in message && "id" in message ? message.id : undefined;
    const abort = new AbortController();
    if (id !== undefined) pending.set(id, abort);
    const onRequestStreamEnd = (): void => {
      if (id !== undefined) fail(id, new Error("the server ended its answer"));
    };
    http.send(message, { requestSignal: abort.signal, onRequestStreamEnd }).catch((error: unknown) => {
      if (id !== undefined && !abort.signal.aborted) fail(id, error);
    });
  };
  await http.start();
  await wire.start();
  await gone.promise;
  await http.close();
}

/** Over HTTP a request is given up by closing its stream. */
function givenUp(message: JSONRPCMessage, pending: Map<Id, AbortController>): boolean {
  if (!("method" in message) || message.method !== "notifications/cancelled") return false;
  const id = get(message.params as Json, "requestId") as Id | undefined;
  const abort = id === undefined ? undefined : pending.get(id);
  if (id === undefined || abort === undefined) return false;
  pending.delete(id);
  abort.abort();
  return true;
}

/** The server's own words where it has some. */
function errorFor(id: Id, error: unknown, url: string): JSONRPCMessage {
  const said = error instanceof SdkHttpError ? jsonOf(error.data["text"]) : undefined;
  const own = get(said, "error");
  if (isObject(own) && typeof own["code"] === "number")
    return { jsonrpc: "2.0", id, error: own as unknown as { code: number; message: string } };
  const detail = get(said, "detail");
  const message =
    typeof detail === "string" ? detail : `the server at ${url}, which holds the store, does not answer`;
  return { jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message } };
}

function jsonOf(text: unknown): Json | undefined {
  try {
    return typeof text === "string" ? (JSON.parse(text) as Json) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
