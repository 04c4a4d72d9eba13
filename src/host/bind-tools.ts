// Bindings of packloop.yaml as tools: one entry per tool of a pack, each saying what stands behind the name.

import { type BoundAgent, bindAgent } from "../adapter/a2a/bind-agent.ts";
import type { RemoteAgents } from "../adapter/a2a/remote-agents.ts";
import { bindMcp, bindMcpTools, type McpToolset } from "../adapter/mcp/bind-mcp.ts";
import type { McpServers } from "../adapter/mcp/mcp-servers.ts";
import type { BoundTool, Surroundings, Tier, ToolsByName } from "../adapter/tool/bound-tool.ts";
import { bindEndpoint } from "../adapter/tool/endpoint/bind-endpoint.ts";
import { bindExec } from "../adapter/tool/exec/bind-exec.ts";
import { bindFetch } from "../adapter/tool/fetch/bind-fetch.ts";
import { bindFs } from "../adapter/tool/fs/bind-fs.ts";
import { bindGit } from "../adapter/tool/git/bind-git.ts";
import { bindHuman } from "../adapter/tool/human/bind-human.ts";
import { bindJson } from "../adapter/tool/json/bind-json.ts";
import { bindNotify } from "../adapter/tool/notify/bind-notify.ts";
import { type OptionProblem, OptionReader } from "../adapter/tool/option-reader.ts";
import { bindPlugin } from "../adapter/tool/plugin/bind-plugin.ts";
import { bindProc } from "../adapter/tool/proc/bind-proc.ts";
import { bindSql } from "../adapter/tool/sql/bind-sql.ts";
import { bindTime } from "../adapter/tool/time/bind-time.ts";
import type { JsonObject } from "../base/json.ts";
import { suggest } from "../base/suggest.ts";

/** `name` is what the pack calls the tool. */
type Binder = (reader: OptionReader, around: Surroundings, name: string) => BoundTool;

const BUILTINS: Readonly<Record<string, Binder>> = {
  fs: bindFs,
  git: bindGit,
  http: bindFetch,
  human: bindHuman,
  json: bindJson,
  notify: bindNotify,
  proc: bindProc,
  sql: bindSql,
  time: bindTime,
};

const KINDS = ["builtin", "mcp", "agent", "http", "exec", "plugin"] as const;

const TIERS: readonly Tier[] = ["read", "write", "destructive", "egress"];

/** What tools of others are reached through. */
export interface Remotes {
  readonly servers: McpServers;
  readonly agents: RemoteAgents;
}

/** All tools of a configuration, with the mistakes in it. */
export class BoundTools implements ToolsByName {
  readonly problems: OptionProblem[] = [];
  readonly #around: Surroundings;
  readonly #remotes: Remotes;
  readonly #tools = new Map<string, BoundTool>();
  readonly #agents = new Map<string, { readonly agent: BoundAgent; readonly shared: Shared }>();
  /** Servers whose tools are bound by a pattern, or whose definitions a model needs. */
  readonly #sets = new Map<string, { readonly set: McpToolset; readonly shared: Shared }>();

  constructor(bindings: Readonly<Record<string, JsonObject>>, around: Surroundings, remotes: Remotes) {
    this.#around = around;
    this.#remotes = remotes;
    for (const [name, options] of Object.entries(bindings)) this.#bind(name, options);
  }

  get(name: string): BoundTool | undefined {
    const bound = this.#tools.get(name);
    if (bound !== undefined) return bound;
    for (const { set, shared } of this.#sets.values()) {
      const tool = set.tool(name);
      if (tool !== undefined) return withShared(tool, shared);
    }
    return undefined;
  }

  /**
   * Every tool by name, servers asked for theirs; definitions are there where they can be known. Agents are
   * asked only for those that are wanted.
   */
  async all(
    signal: AbortSignal,
    isWanted: (name: string) => boolean,
  ): Promise<ReadonlyMap<string, BoundTool>> {
    const all = new Map(this.#tools);
    for (const { set, shared } of this.#sets.values())
      for (const [name, tool] of await set.open(signal)) all.set(name, withShared(tool, shared));
    for (const [name, { agent, shared }] of this.#agents)
      if (isWanted(name)) all.set(name, withShared(await agent.open(signal), shared));
    return all;
  }

  #bind(name: string, options: JsonObject): void {
    const reader = new OptionReader(options, ["tools", name], this.problems);
    const shared = readShared(reader);
    const kinds = KINDS.filter((kind) => Object.hasOwn(options, kind));
    const [kind] = kinds;
    if (kind === undefined || kinds.length > 1) {
      for (const key of Object.keys(options)) reader.any(key);
      reader.wrongWhole(`a binding has one of ${KINDS.map((one) => `\`${one}\``).join(", ")}`);
      return;
    }
    if (kind === "mcp") this.#bindMcp(name, reader, shared);
    else if (kind === "agent") this.#bindAgent(name, reader, shared);
    else {
      const tool = (kind === "builtin" ? builtin(reader) : OTHERS[kind])?.(reader, this.#around, name);
      if (tool !== undefined) this.#tools.set(name, withShared(tool, shared));
      else return;
    }
    reader.end();
  }

  #bindMcp(name: string, reader: OptionReader, shared: Shared): void {
    const safe = shared.idempotent ?? (shared.tier === "read" ? true : undefined);
    const { servers } = this.#remotes;
    const use = { name, servers, ...(safe !== undefined && { safe }) };
    if (name.endsWith("*")) this.#sets.set(name, { set: bindMcpTools(reader, this.#around, use), shared });
    else this.#tools.set(name, withShared(bindMcp(reader, this.#around, use), shared));
  }

  #bindAgent(name: string, reader: OptionReader, shared: Shared): void {
    const safe = shared.idempotent ?? shared.tier === "read";
    const agent = bindAgent(reader, this.#around, { name, agents: this.#remotes.agents, safe });
    this.#tools.set(name, withShared(agent.tool, shared));
    this.#agents.set(name, { agent, shared });
  }
}

const OTHERS: Readonly<Record<"http" | "exec" | "plugin", Binder>> = {
  http: bindEndpoint,
  exec: bindExec,
  plugin: bindPlugin,
};

function builtin(reader: OptionReader): Binder | undefined {
  const name = reader.neededText("builtin");
  if (Object.hasOwn(BUILTINS, name)) return BUILTINS[name];
  const known = Object.keys(BUILTINS);
  const meant = suggest(name, known);
  const hint = meant === undefined ? `expected one of ${known.join(", ")}` : `did you mean \`${meant}\`?`;
  reader.wrong("builtin", `\`${name}\` is not a built-in tool (${hint})`);
  return undefined;
}

interface Shared {
  readonly tier: Tier | undefined;
  readonly idempotent: boolean | undefined;
  readonly approval: "auto" | "gate" | undefined;
  readonly rollback: string | undefined;
}

/** Options every binding has. `outside` and `private` are for the checker (PP702). */
function readShared(reader: OptionReader): Shared {
  reader.flag("outside");
  reader.flag("private");
  return {
    tier: reader.oneOf("tier", TIERS),
    idempotent: reader.flag("idempotent"),
    approval: reader.oneOf("approval", ["auto", "gate"]),
    rollback: reader.text("rollback"),
  };
}

function withShared(tool: BoundTool, shared: Shared): BoundTool {
  const { tier = tool.tier, idempotent, approval, rollback } = shared;
  // What destroys or leaves the house asks first unless the configuration says otherwise.
  const careful = tier === "destructive" || tier === "egress";
  return {
    ...tool,
    tier,
    safe: idempotent ?? (tier === "read" || tool.safe),
    gated: (approval ?? (careful ? "gate" : "auto")) === "gate",
    ...(rollback !== undefined && { rollback }),
  };
}
