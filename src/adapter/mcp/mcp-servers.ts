// The MCP servers of a process: opened when first called, shared by all tools that describe the same server,
// opened again after they died, and closed together. Also keeps the pins of their tools.

import type { PriorDiscovery, Tool } from "@modelcontextprotocol/client";
import { type JsonObject, put } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import { Fault, type ToolAnswer } from "../../engine/ports.ts";
import { type Surroundings, toolError } from "../tool/bound-tool.ts";
import { type FailurePlace, faultOf } from "./call-failure.ts";
import { changesSince, type McpPins, pinOf, readPins, type ToolPin } from "./definition-pin.ts";
import { LiveState, McpConnection } from "./mcp-connection.ts";
import { plainName } from "./plain-name.ts";
import { credentialsOf, keyOf, labelOf, type McpDefinition, pinIdOf } from "./server-definition.ts";
import { redactor } from "./tool-result.ts";

export interface McpServersOptions {
  /** What `definitionsOf` said in an earlier process. */
  readonly pinned?: McpPins;
  /** Takes one line about a tool whose definition changed. */
  readonly warn?: (line: string) => void;
  /** How packloop calls itself to servers. */
  readonly version?: string;
}

/** An open server, and what is needed to speak about its failures. */
export interface OpenServer {
  readonly connection: McpConnection;
  readonly definition: McpDefinition;
  readonly state: LiveState;
  readonly redact: (text: string) => string;
}

interface Slot {
  readonly opened: Promise<OpenServer>;
  readonly abort: AbortController;
  readonly state: LiveState;
}

export class McpServers implements AsyncDisposable {
  readonly #slots = new Map<string, Slot>();
  readonly #retired = new Set<OpenServer>();
  readonly #priors = new Map<string, PriorDiscovery>();
  readonly #pins: Map<string, Map<string, ToolPin>>;
  readonly #warned = new Set<string>();
  readonly #warn: (line: string) => void;
  readonly #version: string;
  #disposed = false;

  constructor({ pinned = {}, warn = () => {}, version = "0" }: McpServersOptions = {}) {
    this.#pins = readPins(pinned);
    this.#warn = warn;
    this.#version = version;
  }

  /** The server, opened if need be. Whoever waits may give up; the server is opened for all. */
  async open(definition: McpDefinition, around: Surroundings, signal: AbortSignal): Promise<OpenServer> {
    if (this.#disposed) throw new Fault("mcp_closed", "MCP servers are closed", { retry: "never" });
    const key = keyOf(definition);
    let slot = this.#slots.get(key);
    if (slot?.state.closed === true) slot = undefined;
    if (slot === undefined) {
      const state = new LiveState();
      const abort = new AbortController();
      const opened = this.#open(definition, around, { state, signal: abort.signal });
      slot = { opened, abort, state };
      this.#slots.set(key, slot);
      // A failure is for those who wait; the next who asks tries again.
      opened.catch(() => this.#forget(key, state));
    }
    return await whileWanted(slot.opened, signal);
  }

  /** The next call opens the server anew. Calls under way keep what they have until all is closed. */
  forget(server: OpenServer): void {
    this.#forget(keyOf(server.definition), server.state);
    this.#retired.add(server);
  }

  /** A tool as the server defines it, if it is the one that was pinned; else the answer to a call of it. */
  async tool(server: OpenServer, name: string, signal: AbortSignal): Promise<ToolLookup> {
    const tools = await server.connection.tools(signal);
    const tool = tools.get(name) ?? [...tools.values()].find((one) => plainName(one.name) === name);
    if (tool === undefined) {
      const meant = suggest(name, [...tools.keys()]);
      const hint = meant === undefined ? "" : ` (did you mean \`${meant}\`?)`;
      const words = `MCP server \`${labelOf(server.definition)}\` has no tool \`${name}\`${hint}`;
      return { refused: toolError("unknown_tool", words) };
    }
    const change = this.#change(server, tool);
    return change === undefined ? { tool } : { refused: toolError("definition_changed", change) };
  }

  /** All tools of a server; those that changed since they were pinned are marked. */
  async list(server: OpenServer, signal: AbortSignal): Promise<readonly ListedTool[]> {
    try {
      const tools = await server.connection.tools(signal);
      return [...tools.values()].map((tool) => ({
        tool,
        accepted: this.#change(server, tool) === undefined,
      }));
    } catch (error) {
      signal.throwIfAborted();
      throw faultOf(error, placeOf(server));
    }
  }

  /** The pins in force for every tool seen or given, to be stored. A changed tool keeps its old pin. */
  definitionsOf(): McpPins {
    const pins: Record<string, Record<string, ToolPin>> = {};
    for (const [server, tools] of [...this.#pins].sort(byName)) {
      const of: Record<string, ToolPin> = {};
      for (const [tool, pin] of [...tools].sort(byName)) put(of, tool, pin);
      put(pins, server, of);
    }
    return pins;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    const slots = [...this.#slots.values()];
    this.#slots.clear();
    for (const { abort } of slots)
      abort.abort(new Fault("mcp_closed", "MCP servers are closed", { retry: "never" }));
    const opened = await Promise.allSettled(slots.map((slot) => slot.opened));
    const servers = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    await Promise.allSettled([...servers, ...this.#retired].map(({ connection }) => connection.close()));
  }

  async #open(
    definition: McpDefinition,
    around: Surroundings,
    { state, signal }: { readonly state: LiveState; readonly signal: AbortSignal },
  ): Promise<OpenServer> {
    const credentials = credentialsOf(definition, around);
    const redact = redactor(credentials.secrets);
    const key = keyOf(definition);
    const client = { name: "packloop", version: this.#version };
    const prior = definition.kind === "stdio" ? this.#priors.get(key) : undefined;
    try {
      const options = { definition, credentials, clock: around.clock, client, prior, signal };
      const connection = await McpConnection.open(options, state);
      if (connection.prior !== undefined) this.#priors.set(key, connection.prior);
      return { connection, definition, state, redact };
    } catch (error) {
      this.#priors.delete(key);
      throw faultOf(error, placeOf({ definition, state, redact }));
    }
  }

  #forget(key: string, state: LiveState): void {
    if (this.#slots.get(key)?.state === state) this.#slots.delete(key);
  }

  /** How a tool differs from its pin, in words; seen for the first time, it is pinned. */
  #change({ definition }: OpenServer, tool: Tool): string | undefined {
    const id = pinIdOf(definition);
    const pins = this.#pins.get(id) ?? new Map<string, ToolPin>();
    this.#pins.set(id, pins);
    const now = pinOf(tool as unknown as JsonObject);
    const pin = pins.get(tool.name);
    if (pin === undefined) pins.set(tool.name, now);
    const changed = pin === undefined ? [] : changesSince(pin, now);
    if (changed.length === 0) return undefined;
    const message =
      `tool \`${tool.name}\` of MCP server \`${labelOf(definition)}\` is no longer the one that was pinned: ` +
      `${changed.join(" and ")} changed (look at it, then remove its pin to accept it)`;
    const once = JSON.stringify([id, tool.name, now]);
    if (!this.#warned.has(once)) this.#warn(message);
    this.#warned.add(once);
    return message;
  }
}

export interface ListedTool {
  readonly tool: Tool;
  /** It is what was pinned. */
  readonly accepted: boolean;
}

/** Where a request that changes nothing can fail. */
const placeOf = ({ definition, state, redact }: Omit<OpenServer, "connection">): FailurePlace => ({
  label: labelOf(definition),
  phase: "connect",
  safe: true,
  tail: state.tail,
  retryAfterMs: state.retryAfterMs,
  redact,
});

export type ToolLookup =
  | { readonly tool: Tool; readonly refused?: undefined }
  | { readonly tool?: undefined; readonly refused: ToolAnswer };

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : Number(a > b);

async function whileWanted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const given = Promise.withResolvers<never>();
  const onAbort = (): void => given.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, given.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
