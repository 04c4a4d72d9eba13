// Tools written in the program that embeds packloop: plain functions, objects with `execute`, and tools of the
// AI SDK, whose shape is the same.

import type { Json, JsonObject } from "../../base/json.ts";
import type { CallContext, Later, ToolAnswer } from "../../engine/ports.ts";
import type { BoundTool } from "./bound-tool.ts";

/** What a function learns about the call; `key` is the same for every attempt at it. */
export type FunctionContext = Pick<CallContext, "run" | "step" | "key" | "attempt" | "handle" | "input"> & {
  readonly signal: AbortSignal;
  /** Under these names tools of the AI SDK expect them. */
  readonly abortSignal: AbortSignal;
  readonly toolCallId: string;
  readonly messages: readonly never[];
};

/** The caller's function says which arguments it takes; the pack's schema has checked them before. */
export type ToolFunction = (args: never, context: never) => unknown;

export interface ToolObject {
  /** Tools of the AI SDK may make it up for each call; then the pack's own is shown. */
  readonly description?: string | ((options: never) => string) | undefined;
  /** JSON Schema of the arguments; needed where the pack lists the tool and does not define it. */
  readonly parameters?: JsonObject;
  /** As tools of the AI SDK have it: a schema object of a library. */
  readonly inputSchema?: unknown;
  readonly execute?: ToolFunction | undefined;
  /** A repeat with the same `key` does no harm, so a call that a crash interrupted is made again (S46). */
  readonly idempotent?: boolean;
}

export type FunctionTool = ToolFunction | ToolObject;

const marked = new WeakSet<object>();

/**
 * What a tool returns when its call is not over. Bare, the answer comes from outside (`run.answer`); with
 * `until` the tool is called again at that time, with `question` once a person has answered.
 */
export function later(options: Omit<Later, "deferred"> = {}): Later {
  const answer: Later = { deferred: true, ...options };
  marked.add(answer);
  return answer;
}

export function functionTools(tools: Readonly<Record<string, FunctionTool>>): ReadonlyMap<string, BoundTool> {
  return new Map(Object.entries(tools).map(([name, tool]) => [name, boundFunction(name, tool)]));
}

function boundFunction(name: string, tool: FunctionTool): BoundTool {
  const object: ToolObject = typeof tool === "function" ? { execute: tool } : tool;
  const { execute, description, idempotent } = object;
  const parameters = object.parameters ?? jsonSchemaOf(object.inputSchema);
  return {
    tier: "write",
    safe: idempotent === true,
    ...(parameters !== undefined && {
      definition: { description: typeof description === "string" ? description : "", parameters },
    }),
    async call(args, context) {
      // A tool without `execute` is answered by whoever offers it: the call waits for `run.answer`.
      if (execute === undefined) return { deferred: true };
      return answerOf(name, await lastOf(execute.call(object, args as never, contextOf(context) as never)));
    },
  };
}

function contextOf(context: CallContext): FunctionContext {
  const { run, step, key, attempt, signal, handle, input } = context;
  return {
    run,
    step,
    key,
    attempt,
    signal,
    abortSignal: signal,
    toolCallId: key,
    messages: [],
    ...(handle !== undefined && { handle }),
    ...(input !== undefined && { input }),
  };
}

/** Tools of the AI SDK may yield preliminary results; the last one counts. */
async function lastOf(result: unknown): Promise<unknown> {
  const value = await result;
  if (typeof value !== "object" || value === null || !(Symbol.asyncIterator in value)) return value;
  let last: unknown;
  for await (const one of value as AsyncIterable<unknown>) last = one;
  return last;
}

function answerOf(name: string, value: unknown): ToolAnswer {
  if (typeof value === "object" && value !== null && marked.has(value)) return value as Later;
  try {
    const text = JSON.stringify(value);
    return { ok: true, value: text === undefined ? null : (JSON.parse(text) as Json) };
  } catch (error) {
    const message = `the result of \`${name}\` cannot be kept as JSON: ${(error as Error).message}`;
    return { ok: false, code: "bad_result", message };
  }
}

/** JSON Schema of a schema object: the AI SDK's own, or a library that follows Standard JSON Schema. */
function jsonSchemaOf(schema: unknown): JsonObject | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const own = (schema as { readonly jsonSchema?: unknown }).jsonSchema;
  if (typeof own === "object" && own !== null) return own as JsonObject;
  const standard = (schema as { readonly "~standard"?: StandardJsonSchema })["~standard"];
  const made = standard?.jsonSchema?.input({ target: "draft-2020-12" });
  return made === undefined ? undefined : (JSON.parse(JSON.stringify(made)) as JsonObject);
}

interface StandardJsonSchema {
  readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => unknown };
}
