// A look at the tools of others without accepting anything: MCP servers and agents are asked what they say of
// themselves today, and that is held against the lock file, which stays as it is.

import { readAgent } from "../adapter/a2a/agent-definition.ts";
import { RemoteAgents } from "../adapter/a2a/remote-agents.ts";
import { McpServers } from "../adapter/mcp/mcp-servers.ts";
import { keyOf, labelOf, type McpDefinition, readDefinition } from "../adapter/mcp/server-definition.ts";
import type { Surroundings } from "../adapter/tool/bound-tool.ts";
import { OptionReader } from "../adapter/tool/option-reader.ts";
import { ToolProblem } from "../adapter/tool/tool-problem.ts";
import { type Clock, Fault } from "../engine/ports.ts";
import type { RunSettings } from "./run-settings.ts";
import { readToolPins, type ToolPins } from "./tool-pins.ts";

export interface Remote {
  /** What people read: a command or an address. */
  readonly label: string;
  /** One line for each definition that is no longer the pinned one. */
  readonly changed: readonly string[];
  /** Why it could not be asked. */
  readonly away: string | undefined;
}

interface LookOptions {
  readonly clock: Clock;
  readonly env: (name: string) => string | undefined;
  /** How long each may take. */
  readonly waitMs: number;
}

/** Throws a fault `bad_lock` when there is a lock file that cannot be read. Bindings with mistakes are left out. */
export async function lookAtPinned(
  { folder, tools }: RunSettings,
  options: LookOptions,
): Promise<readonly Remote[]> {
  const pins = readToolPins(folder);
  const { clock, env, waitMs } = options;
  const around: Surroundings = { folder, env, clock, workspaceOf: async () => folder };
  const servers = new Map<string, McpDefinition>();
  const looks: Promise<Remote>[] = [];
  for (const [name, binding] of Object.entries(tools)) {
    const reader = new OptionReader(binding, ["tools", name]);
    const definition = Object.hasOwn(binding, "mcp") ? readDefinition(reader, folder) : undefined;
    if (definition !== undefined) servers.set(keyOf(definition), definition);
    if (Object.hasOwn(binding, "agent")) looks.push(agentLook(reader, { pins, around, waitMs }));
  }
  for (const definition of servers.values()) looks.push(serverLook(definition, { pins, around, waitMs }));
  return (await Promise.all(looks)).filter(({ label }) => label !== "");
}

interface Looking {
  readonly pins: ToolPins;
  readonly around: Surroundings;
  readonly waitMs: number;
}

async function serverLook(definition: McpDefinition, { pins, around, waitMs }: Looking): Promise<Remote> {
  const changed: string[] = [];
  await using servers = new McpServers({ pinned: pins.mcp, warn: (line) => void changed.push(line) });
  const signal = AbortSignal.timeout(waitMs);
  const away = await reasonOf(signal, async () => {
    await servers.list(await servers.open(definition, around, signal), signal);
  });
  return { label: labelOf(definition), changed, away };
}

async function agentLook(reader: OptionReader, { pins, around, waitMs }: Looking): Promise<Remote> {
  const definition = readAgent(reader, around);
  if (definition === undefined) return { label: "", changed: [], away: undefined };
  const changed: string[] = [];
  const agents = new RemoteAgents({ pinned: pins.a2a, warn: (line) => void changed.push(line) });
  const signal = AbortSignal.timeout(waitMs);
  const away = await reasonOf(signal, async () => {
    await agents.open(definition, { around, timeoutMs: waitMs, signal });
  });
  // A changed card has been answered for; it is not away.
  return { label: definition.label, changed, away: changed.length > 0 ? undefined : away };
}

/** Undefined when it went well. */
async function reasonOf(signal: AbortSignal, work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof Fault || error instanceof ToolProblem) return error.message;
    if (signal.aborted) return "it did not answer in time";
    throw error;
  }
}
