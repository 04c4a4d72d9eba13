// Where the official client leaves something to be wished, its transport is helped from outside:
// 1. A task in place of a result (of 2025-11-25, or of the extension `io.modelcontextprotocol/tasks`) is refused
//    by the client, so it is handed through as a result that carries the task in its `_meta`.
// 2. Servers before 2026-07-28 are told of no elicitation: they ask over an open connection, and a wait that
//    dies with the process is none.
// 3. A response stream that ends without an answer fails its request at once instead of at its timeout.

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { get, isObject, type JsonObject } from "../../base/json.ts";
import { streamEnded } from "./call-failure.ts";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";
/** Under this key of `_meta` a result carries the task that stands for it. */
const TASK_KEY = "packloop/task";
const INTERNAL_ERROR = -32603;

/** Before connecting. */
export function prepareTransport(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!("method" in message && "id" in message)) return send(message, options);
    const { id } = message;
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      // Ignored by the client when the request has been answered.
      const error = { code: INTERNAL_ERROR, message: streamEnded.reason, data: streamEnded };
      transport.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    return send(withoutElicitation(message), { ...options, onRequestStreamEnd });
  };
}

/** After connecting: until then the client changes its handlers. */
export function listenForTasks(transport: Transport): void {
  const { onmessage } = transport;
  if (onmessage === undefined) return;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the only way in a transport has
  transport.onmessage = (message, extra) => onmessage.call(transport, withTaskInMeta(message), extra);
}

function withoutElicitation<M extends JSONRPCMessage>(message: M): M {
  if (!("method" in message) || message.method !== "initialize") return message;
  const params = message.params as { readonly capabilities?: object } | undefined;
  const {
    elicitation: _elicitation,
    extensions: _extensions,
    ...kept
  } = { ...params?.capabilities } as {
    readonly elicitation?: unknown;
    readonly extensions?: unknown;
  };
  return { ...message, params: { ...params, capabilities: kept } };
}

function withTaskInMeta<M extends JSONRPCMessage>(message: M): M {
  if (!("result" in message)) return message;
  const { _meta, ...result } = message.result as JsonObject;
  const isTask = result["resultType"] === "task";
  const older = result["content"] === undefined && isObject(result["task"]) ? result["task"] : undefined;
  const task = isTask ? result : older;
  if (task === undefined) return message;
  const meta = { ...(isObject(_meta) && _meta), [TASK_KEY]: task };
  return { ...message, result: { ...(isTask && { resultType: "complete" }), content: [], _meta: meta } };
}

/** The task a result stands for, in either generation; undefined for a plain result. */
export function taskIn({ _meta }: JsonObject): JsonObject | undefined {
  const task = get(_meta, TASK_KEY);
  return isObject(task) && typeof task["taskId"] === "string" ? task : undefined;
}
