// A world that remembers which trace it was called in: a model and a tool behind HTTP, and an MCP server.

import type { IncomingHttpHeaders } from "node:http";
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { noSettings, type RunSettings } from "../../src/host/run-settings.ts";
import { httpHost } from "../adapter/mcp/http-host.ts";
import { newWorld, text } from "../adapter/mcp/own-server.ts";
import { bodyOf, testServer } from "../adapter/test-server.ts";
import { temporaryFolder } from "../server/served.ts";

export interface CalledWorld {
  readonly settings: RunSettings;
  /** Headers of the calls of the model, and of the tool. */
  readonly model: IncomingHttpHeaders[];
  readonly tool: IncomingHttpHeaders[];
  /** `_meta` of the calls of the MCP server's tool. */
  readonly mcp: readonly JsonObject[];
}

/** Calls the tool, then the MCP server's, then is done. */
export const pack = `id: called
name: Called
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  ask: { id: ask, name: Asker, version: 1.0.0, system_template: Ask., tools: [look, echo] }
tools:
  look: { name: look, description: Looks. }
  echo: { name: echo, description: Echoes. }
`;

export async function calledWorld(): Promise<CalledWorld> {
  const model: IncomingHttpHeaders[] = [];
  const tool: IncomingHttpHeaders[] = [];
  const world = newWorld({ echo: () => text("echo") });
  const host = await httpHost(world);
  onTestFinished(() => host[Symbol.asyncDispose]());
  const server = await testServer(async (request, response) => {
    const body = await bodyOf(request);
    response.setHeader("content-type", "application/json");
    if (request.url === "/look") {
      tool.push(request.headers);
      return response.end('{"light":"on"}');
    }
    model.push(request.headers);
    return response.end(JSON.stringify(completion(body)));
  });
  const binding = {
    provider: "openai-compatible",
    base_url: `${server.url}/v1`,
    model: "tide-1",
    stream: false,
  };
  const tools = {
    look: { http: { url: `${server.url}/look` }, approval: "auto" },
    echo: { mcp: { url: host.url }, approval: "auto" },
  };
  // Pins of tools are written beside the settings.
  const settings = { ...noSettings(temporaryFolder()), model: binding, tools };
  return {
    settings,
    model,
    tool,
    get mcp() {
      return world.calls.map(({ meta }) => meta);
    },
  };
}

/** By how many results of tools it has seen. */
function completion(body: string): JsonObject {
  const { messages } = JSON.parse(body) as { messages: readonly { role: string }[] };
  const seen = messages.filter(({ role }) => role === "tool").length;
  const name = ["look", "echo"][seen];
  const call = { id: `c${seen}`, type: "function", function: { name: name ?? "", arguments: "{}" } };
  const message =
    name === undefined
      ? { role: "assistant", content: "Done." }
      : { role: "assistant", content: null, tool_calls: [call] };
  return {
    id: `answer-${seen}`,
    object: "chat.completion",
    created: 1,
    model: "tide-1-2026",
    choices: [{ index: 0, message, finish_reason: name === undefined ? "stop" : "tool_calls" }],
    usage: {
      prompt_tokens: 30,
      completion_tokens: 4,
      total_tokens: 34,
      prompt_tokens_details: { cached_tokens: 12 },
      completion_tokens_details: { reasoning_tokens: 3 },
    },
  };
}
