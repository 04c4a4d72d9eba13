// Requests to /mcp written by hand in the revision 2026-07-28: what the official client does for its callers,
// or would not send.

import type { JsonObject } from "../../src/base/json.ts";
import { TASKS } from "./mcp-client.ts";

export interface RpcOptions {
  readonly capabilities?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly meta?: JsonObject;
}

export interface RpcAnswer {
  readonly status: number;
  readonly result: JsonObject;
  readonly error: JsonObject | undefined;
}

export const WITH_TASKS: JsonObject = { extensions: { [TASKS]: {} } };
export const WITH_FORMS: JsonObject = { elicitation: { form: {} } };
export const WITH_PAGES: JsonObject = { elicitation: { url: {} } };

const VERSION = "2026-07-28";
const NAMED: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

let last = 0;

export async function rpc(
  url: string,
  method: string,
  params: JsonObject,
  { capabilities = {}, headers = {}, meta = {} }: RpcOptions = {},
): Promise<RpcAnswer> {
  const name = params[NAMED[method] ?? ""];
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    ...meta,
  };
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": VERSION,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: ++last, method, params: { ...params, _meta } }),
  });
  const body = (await response.json()) as JsonObject;
  return {
    status: response.status,
    result: (body["result"] ?? {}) as JsonObject,
    error: body["error"] as JsonObject | undefined,
  };
}

export const callTool = (
  url: string,
  name: string,
  args: JsonObject,
  options: RpcOptions & { readonly more?: JsonObject } = {},
): Promise<RpcAnswer> => rpc(url, "tools/call", { name, arguments: args, ...options.more }, options);
