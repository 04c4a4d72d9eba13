// Tools of MCP servers as packloop.yaml binds them: one by one (`read_file: {mcp: …, tool: …}`), or all allowed
// tools of a server at once (`mcp__files__*: {mcp: …, allow: […]}`).

import type { Tool } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../base/json.ts";
import { Fault } from "../../engine/ports.ts";
import type { BoundTool, Surroundings, Tier } from "../tool/bound-tool.ts";
import type { OptionReader } from "../tool/option-reader.ts";
import { callTool } from "./call-tool.ts";
import type { ListedTool, McpServers } from "./mcp-servers.ts";
import { plainName } from "./plain-name.ts";
import { type McpDefinition, readDefinition } from "./server-definition.ts";
import { cut } from "./tool-result.ts";

export interface McpUse {
  /** The key of the binding: a tool's name, or a pattern that ends in `*`. */
  readonly name: string;
  readonly servers: McpServers;
  /** The binding or the pack says that a call may be made again when its end is unknown (S46). */
  readonly safe?: boolean;
}

/** What a binding leads to. */
export interface McpToolset {
  /** The tool that packs call by this name, without asking the server; undefined when none is bound to it. */
  tool(name: string): BoundTool | undefined;
  /** Opens the server and lists what it offers of this binding, with definitions for models. */
  open(signal: AbortSignal): Promise<ReadonlyMap<string, BoundTool>>;
}

const TIMEOUT_SEC = 120;
const RESULT_BYTES = 262_144;
const RESULT_BYTES_MAX = 10_000_000;
const DESCRIPTION_BYTES = 8192;

/** One tool. Its server is opened by the first call. */
export function bindMcp(reader: OptionReader, around: Surroundings, use: McpUse): BoundTool {
  const binding = readBinding(reader, around, use);
  return boundTool(binding, binding.tool);
}

/** The tools a pattern stands for; of a plain name one, where its definition is wanted. */
export function bindMcpTools(reader: OptionReader, around: Surroundings, use: McpUse): McpToolset {
  const binding = readBinding(reader, around, use);
  return {
    tool(name) {
      const remote = remoteOf(binding, name);
      return remote === undefined ? undefined : boundTool(binding, remote);
    },
    async open(signal) {
      const tools = new Map<string, BoundTool>();
      for (const listed of await offered(binding, signal)) {
        const name =
          binding.prefix === undefined ? use.name : `${binding.prefix}${plainName(listed.tool.name)}`;
        const fits =
          remoteOf(binding, name) !== undefined && (binding.prefix !== undefined || isIt(binding, listed));
        // Of two names that become one, the first is bound.
        if (fits && !tools.has(name)) tools.set(name, definedTool(binding, listed));
      }
      return tools;
    },
  };
}

interface Binding {
  readonly servers: McpServers;
  readonly around: Surroundings;
  /** Undefined after a problem, which keeps the binding from being used. */
  readonly definition: McpDefinition | undefined;
  /** What a pattern's tools begin with; undefined for a single tool. */
  readonly prefix: string | undefined;
  readonly name: string;
  /** The server's name of the single tool. */
  readonly tool: string;
  readonly allow: readonly string[] | undefined;
  readonly trustsAnnotations: boolean;
  readonly safe: boolean;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

function readBinding(reader: OptionReader, around: Surroundings, use: McpUse): Binding {
  const { name, servers, safe = false } = use;
  const prefix = name.endsWith("*") ? name.slice(0, -1) : undefined;
  const named = prefix === undefined ? reader.text("tool") : undefined;
  const tool = named ?? /^mcp__.+?__(.+)$/.exec(name)?.[1] ?? name;
  const allow = reader.texts("allow");
  if (prefix === undefined && allow !== undefined && !isAllowed(allow, tool))
    reader.wrong("allow", `\`${tool}\` is not among the allowed tools`);
  return {
    servers,
    around,
    definition: readDefinition(reader, around.folder),
    prefix,
    name,
    tool,
    allow,
    trustsAnnotations: reader.flag("trust_annotations") ?? false,
    safe,
    timeoutMs: 1000 * (reader.number("timeout_sec", { least: 1, most: 3600 }) ?? TIMEOUT_SEC),
    maxBytes: reader.number("max_result_bytes", { least: 1024, most: RESULT_BYTES_MAX }) ?? RESULT_BYTES,
  };
}

/** A list that is absent allows all; an entry may end in `*`. */
function isAllowed(allow: readonly string[] | undefined, remote: string): boolean {
  if (allow === undefined) return true;
  const name = plainName(remote);
  return allow.some((entry) =>
    entry.endsWith("*") ? name.startsWith(plainName(entry.slice(0, -1))) : name === plainName(entry),
  );
}

/** What the server calls the tool, as far as its name for packs tells. */
function remoteOf({ prefix, name: key, tool, allow }: Binding, name: string): string | undefined {
  if (prefix === undefined) return name === key ? tool : undefined;
  const remote = name.slice(prefix.length);
  return name.startsWith(prefix) && remote !== "" && isAllowed(allow, remote) ? remote : undefined;
}

const isIt = (binding: Binding, { tool }: ListedTool): boolean =>
  plainName(tool.name) === plainName(binding.tool);

/** What nobody vouches for may destroy something; a binding's own `tier` says better. */
const UNKNOWN_TIER: Tier = "destructive";

function boundTool(binding: Binding, remote: string): BoundTool {
  const { definition, safe } = binding;
  return {
    tier: UNKNOWN_TIER,
    safe,
    async call(args, context) {
      if (definition === undefined)
        throw new Fault("not_configured", `\`${binding.name}\` has no valid \`mcp\` section`, {
          retry: "never",
        });
      return await callTool({ ...binding, definition, remote }, args, context);
    },
  };
}

/** A changed definition stays out of sight of models; calls of the tool are refused with the reason. */
function definedTool(binding: Binding, { tool, accepted }: ListedTool): BoundTool {
  const trusted = binding.trustsAnnotations && accepted ? hintsOf(tool) : undefined;
  const safe = binding.safe || trusted?.safe === true;
  const description = cut(tool.description ?? tool.title ?? "", DESCRIPTION_BYTES);
  const parameters = tool.inputSchema as unknown as JsonObject;
  return {
    ...boundTool({ ...binding, safe }, tool.name),
    ...(trusted !== undefined && { tier: trusted.tier }),
    ...(accepted && { definition: { description, parameters } }),
  };
}

/** What the server says about its tool: believed only where the binding says so. */
function hintsOf({ annotations = {} }: Tool): { readonly tier: Tier; readonly safe: boolean } {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const safe = readOnlyHint === true || idempotentHint === true;
  if (openWorldHint === true) return { tier: "egress", safe };
  if (readOnlyHint === true) return { tier: "read", safe };
  return { tier: destructiveHint === false ? "write" : "destructive", safe };
}

async function offered(binding: Binding, signal: AbortSignal): Promise<readonly ListedTool[]> {
  const { definition, servers, around } = binding;
  if (definition === undefined) return [];
  return await servers.list(await servers.open(definition, around, signal), signal);
}
