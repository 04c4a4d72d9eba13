// An MCP server of our own whose world a test can see and change: what its tools did, how it defines them, and
// the tasks it works on. Served over HTTP inside a test, or as a program (see stdio-program.ts).

import { Server } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../../src/base/json.ts";

type Answer = JsonObject | Promise<JsonObject>;

export interface OwnCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly meta: JsonObject;
  readonly inputResponses: JsonObject | undefined;
  readonly requestState: string | undefined;
  readonly signal: AbortSignal;
}

export interface OwnWorld {
  tools: JsonObject[];
  /** By name. */
  readonly does: Record<string, (call: OwnCall) => Answer>;
  readonly calls: OwnCall[];
  /** `tasks/get` by task; undefined is an unknown task. */
  readonly tasks: Map<string, () => JsonObject>;
  /** What `tasks/update` brought. */
  readonly updates: JsonObject[];
}

export const newWorld = (does: OwnWorld["does"], tools?: JsonObject[]): OwnWorld => ({
  tools: tools ?? Object.keys(does).map((name) => ({ name, inputSchema: { type: "object" } })),
  does,
  calls: [],
  tasks: new Map(),
  updates: [],
});

export const text = (words: string): JsonObject => ({ content: [{ type: "text", text: words }] });

const anything = {
  "~standard": { version: 1 as const, vendor: "test", validate: (value: unknown) => ({ value }) },
};

class UnknownTask extends Error {
  readonly code = -32602;
}

export function ownServer(world: OwnWorld): Server {
  const capabilities = { tools: { listChanged: true }, extensions: { "io.modelcontextprotocol/tasks": {} } };
  const server = new Server({ name: "own", version: "1.0.0" }, { capabilities });
  server.setRequestHandler("tools/list", () => ({ tools: world.tools }) as never);
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const call: OwnCall = {
      name: params.name,
      args: (params.arguments ?? {}) as JsonObject,
      meta: (mcpReq._meta ?? {}) as JsonObject,
      inputResponses: mcpReq.inputResponses as JsonObject | undefined,
      requestState: mcpReq.requestState<string>(),
      signal: mcpReq.signal,
    };
    world.calls.push(call);
    return (await world.does[params.name]?.(call)) as never;
  });
  server.setRequestHandler("tasks/get", { params: anything }, (params) => {
    const { taskId } = params as { taskId: string };
    const task = world.tasks.get(taskId);
    if (task === undefined) throw new UnknownTask(`no task ${taskId}`);
    return { taskId, ...task() };
  });
  server.setRequestHandler("tasks/update", { params: anything }, (params, { mcpReq }) => {
    const { taskId } = params as { taskId: string };
    world.updates.push({ taskId, inputResponses: mcpReq.inputResponses as JsonObject });
    return {};
  });
  return server;
}
