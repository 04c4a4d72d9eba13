// What the tests of MCP tools share: surroundings, contexts of calls, and bindings as packloop.yaml has them.

import { join } from "node:path";
import { bindMcp, bindMcpTools, type McpToolset } from "../../../src/adapter/mcp/bind-mcp.ts";
import { McpServers, type McpServersOptions } from "../../../src/adapter/mcp/mcp-servers.ts";
import type { BoundTool, Surroundings } from "../../../src/adapter/tool/bound-tool.ts";
import { OptionReader } from "../../../src/adapter/tool/option-reader.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { type CallContext, Fault, type Later, type ToolAnswer } from "../../../src/engine/ports.ts";
import { root } from "../../tidy/source-files.ts";

export interface Bench extends AsyncDisposable {
  readonly servers: McpServers;
  readonly warnings: string[];
  readonly env: Map<string, string>;
  /** The time, moved by hand. */
  now: number;
  one(name: string, options: JsonObject, safe?: boolean): BoundTool;
  many(name: string, options: JsonObject): McpToolset;
}

export function bench(options: McpServersOptions = {}): Bench {
  const warnings: string[] = [];
  const env = new Map<string, string>();
  const servers = new McpServers({ ...options, warn: (line) => warnings.push(line) });
  const around: Surroundings = {
    folder: root,
    workspaceOf: () => Promise.reject(new Error("no workspace is needed")),
    env: (name) => env.get(name),
    clock: { now: () => made.now, sleep: () => Promise.resolve() },
  };
  const read = <T>(bind: (reader: OptionReader) => T, binding: JsonObject): T => {
    const reader = new OptionReader(binding, []);
    const bound = bind(reader);
    reader.end();
    if (reader.problems.length > 0) throw new Error(JSON.stringify(reader.problems));
    return bound;
  };
  const made: Bench = {
    servers,
    warnings,
    env,
    now: 1_000_000,
    one: (name, binding, safe = false) =>
      read((reader) => bindMcp(reader, around, { name, servers, safe }), binding),
    many: (name, binding) => read((reader) => bindMcpTools(reader, around, { name, servers }), binding),
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
  return made;
}

export const context = (over: Partial<CallContext> = {}): CallContext => ({
  run: "r_1",
  step: 3,
  key: "r_1/3",
  attempt: 1,
  signal: new AbortController().signal,
  state: "work",
  prompt: "work",
  nth: 0,
  ...over,
});

/** The options of a server that is a program of this repository. */
export const program = (path: string, ...args: readonly string[]): JsonObject => ({
  mcp: { command: [process.execPath, join(root, path), ...args] },
});

export const OWN_PROGRAM = "test/adapter/mcp/stdio-program.ts";
export const EVERYTHING = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
export const FILESYSTEM = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";

/** The fault a call ends with; fails when it ends otherwise. */
export async function faultOf(call: Promise<unknown>): Promise<Fault> {
  const ended = await call.then(
    (value) => `it gave ${JSON.stringify(value)}`,
    (error: unknown) => error,
  );
  if (ended instanceof Fault) return ended;
  throw new Error(`no fault: ${String(ended)}`);
}

export function laterOf(answer: ToolAnswer): Later {
  if ("deferred" in answer) return answer;
  throw new Error(`it is over: ${JSON.stringify(answer)}`);
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
