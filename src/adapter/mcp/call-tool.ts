// A call of a tool of an MCP server: sent, or gone on with where an earlier call of it stopped (S45–S47).

import type { Tool } from "@modelcontextprotocol/client";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import {
  type CallContext,
  type CallPart,
  Fault,
  type ToolAnswer,
  type TraceHeaders,
} from "../../engine/ports.ts";
import { type Surroundings, toolError } from "../tool/bound-tool.ts";
import { type RoundHandle, readHandle, toJson } from "./call-handle.ts";
import { type CallPlace, limitsOf, performed } from "./call-place.ts";
import { followTask, newTask } from "./follow-task.ts";
import type { McpServers } from "./mcp-servers.ts";
import { questionsOf, responsesOf } from "./questions.ts";
import { labelOf, type McpDefinition } from "./server-definition.ts";
import { answerOf, redacted } from "./tool-result.ts";
import { taskIn } from "./wire-seam.ts";

export interface CallTarget {
  readonly servers: McpServers;
  readonly definition: McpDefinition;
  readonly around: Surroundings;
  /** The tool's name at the server. */
  readonly remote: string;
  readonly safe: boolean;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** So many times a server may ask before a call counts as stuck. */
const ROUNDS_MAX = 20;
const STATE_LENGTH_MAX = 262_144;
const RETRY_MS = 1000;
/** How long a server of the older generation is asked to keep a task. */
const OLDER_TASK_MS = 86_400_000;

export async function callTool(target: CallTarget, args: Json, context: CallContext): Promise<ToolAnswer> {
  const { servers, definition, around, remote } = target;
  if (!isObject(args)) return toolError("invalid_arguments", `\`${remote}\` takes an object of arguments`);
  const server = await servers.open(definition, around, context.signal);
  const place: CallPlace = { ...target, server, label: labelOf(definition) };
  const handle = readHandle(context.handle);
  if (handle === undefined || !("task" in handle))
    return await sent(place, { remote, args, handle }, context);
  const followed = await followTask(place, handle, context);
  if (followed !== "lost") return followed;
  if (place.safe) return await sent(place, { remote, args, handle: undefined }, context);
  const message = `MCP server \`${place.label}\` no longer knows task \`${handle.task}\`; whether it took effect is unknown`;
  throw new Fault("in_doubt", message, { retry: "unknown" });
}

interface Sending {
  readonly remote: string;
  readonly args: JsonObject;
  readonly handle: RoundHandle | undefined;
}

async function sent(place: CallPlace, sending: Sending, context: CallContext): Promise<ToolAnswer> {
  const { server, servers } = place;
  // Asking for the definitions changes nothing, whatever the tool does.
  const looking = servers.tool(server, sending.remote, context.signal);
  const looked = await performed({ ...place, safe: true }, looking, context);
  if (!looked.ok) return looked.answer;
  const { tool, refused } = looked.value;
  if (refused !== undefined) return refused;
  const part = { name: `tools/call ${tool.name}`, attributes: attributesOf(tool.name) };
  const result = await performed(
    place,
    inTrace(context, part, (trace) => {
      const params = paramsOf(place, { ...sending, tool, trace }, context);
      return server.connection.call(tool, params, limitsOf(place, context));
    }),
    context,
  );
  if (!result.ok) return result.answer;
  if (result.value["resultType"] === "input_required") return asksFor(place, result.value, sending.handle);
  const task = taskIn(result.value);
  if (task !== undefined) return await newTask(place, task, context);
  return answerOf(result.value, { maxBytes: place.maxBytes, redact: server.redact });
}

const attributesOf = (tool: string): CallPart["attributes"] => ({
  "mcp.method.name": "tools/call",
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.tool.name": tool,
});

/** As a part of the call, where somebody watches it. */
function inTrace<T>(
  { trace }: CallContext,
  part: CallPart,
  request: (headers: TraceHeaders | undefined) => Promise<T>,
): Promise<T> {
  return trace === undefined ? request(undefined) : trace.part(part, request);
}

function paramsOf(
  { server }: CallPlace,
  { args, handle, tool, trace }: Sending & { readonly tool: Tool; readonly trace: TraceHeaders | undefined },
  { key, input }: CallContext,
): JsonObject {
  const inputResponses =
    handle === undefined || input === undefined ? undefined : responsesOf(handle.asked, input);
  return {
    arguments: args,
    _meta: { "packloop/key": key, ...trace },
    ...(typeof handle?.state === "string" && { requestState: handle.state }),
    ...(inputResponses !== undefined && { inputResponses }),
    ...(runsAsOlderTask(server.definition, server.connection.hasOlderTasks, tool) && {
      task: { ttl: OLDER_TASK_MS },
    }),
  };
}

/** A program's tasks die with it and with us, so they are asked for only where the tool insists. */
function runsAsOlderTask(definition: McpDefinition, hasTasks: boolean, tool: Tool): boolean {
  const support = tool.execution?.taskSupport;
  return hasTasks && (support === "required" || (support === "optional" && definition.kind === "http"));
}

/** The server wants something before it goes on: a person's answer, or only to be asked again. */
function asksFor(place: CallPlace, result: JsonObject, before: RoundHandle | undefined): ToolAnswer {
  const round = (before?.round ?? 0) + 1;
  const state = typeof result["requestState"] === "string" ? result["requestState"] : null;
  if (round > ROUNDS_MAX) return toolError("input_unsupported", `the server asked ${ROUNDS_MAX} times`);
  if (state !== null && state.length > STATE_LENGTH_MAX)
    return toolError("too_large", `the server wants ${state.length} characters kept for it`);
  const requests = isObject(result["inputRequests"]) ? result["inputRequests"] : {};
  if (Object.keys(requests).length === 0) {
    const handle = toJson({ state, asked: [], round });
    return { deferred: true, until: place.around.clock.now() + RETRY_MS * round, handle };
  }
  const questions = questionsOf(requests, place.label);
  if (questions === undefined)
    return toolError("input_unsupported", "the server asks for something that no person can answer here");
  const { asked } = questions;
  const question = redacted(questions.question, place.server.redact);
  return { deferred: true, question, handle: toJson({ state, asked, round }) };
}
