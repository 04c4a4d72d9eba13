// One tool for each agent of the registered packs: a call starts a run as that agent and waits for it. Of
// packs with the same id the one registered last speaks.

import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { canonical, get, type Json, type JsonObject, put } from "../../base/json.ts";
import { kept } from "../../base/kept.ts";
import type { Program, VariableSpec } from "../../core/program.ts";
import { type RunStart, reachablePrompts } from "../../core/reachable-prompts.ts";
import { type AgentOfPack, agentCards } from "../../pack/agent-cards.ts";
import { openPack } from "../../pack/open-pack.ts";
import { beginRun, type RunWish } from "../begin-run.ts";
import { summary } from "../schemas/run-shapes.ts";
import { jsonObject } from "../schemas/shared.ts";
import type { KeptPack, SideFile } from "../side-file.ts";
import { checkedArguments } from "./checked-arguments.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import type { McpTool } from "./mcp-call.ts";

/** Packs that are looked through for agents, the newest first. */
const PACKS_MAX = 200;
/** Clients take names of up to 64 characters. */
const NAME_MAX = 64;

/** By digest, which says all about a pack's agents. */
const toolsByDigest = new WeakMap<SideFile, Map<string, readonly McpTool[]>>();

/** In the order of their names. */
export function agentTools(side: SideFile): readonly McpTool[] {
  const known = kept(toolsByDigest, side, () => new Map<string, readonly McpTool[]>());
  const speaking = new Map<string, KeptPack>();
  for (const pack of side.packs({ before: undefined, limit: PACKS_MAX }))
    if (!speaking.has(pack.id)) speaking.set(pack.id, pack);
  const digests = new Set([...speaking.values()].map(({ digest }) => digest));
  for (const digest of known.keys()) if (!digests.has(digest)) known.delete(digest);
  const byName = new Map<string, McpTool>();
  // Names that clients cannot tell apart go to the pack whose id comes first.
  for (const id of [...speaking.keys()].sort()) {
    const pack = speaking.get(id) as KeptPack;
    for (const tool of kept(known, pack.digest, () => toolsOf(pack)))
      if (!byName.has(tool.name)) byName.set(tool.name, tool);
  }
  return [...byName.keys()].sort().map((name) => byName.get(name) as McpTool);
}

/** None for a pack that an older version took and this one does not. */
function toolsOf({ source, file, digest }: KeptPack): readonly McpTool[] {
  const opened = openPack(source, { file });
  return opened.ok ? agentCards(opened.program).map((agent) => agentTool(opened.program, digest, agent)) : [];
}

function agentTool(program: Program, digest: string, agent: AgentOfPack): McpTool {
  const { card } = agent;
  return {
    name: toolName(program, agent),
    title: card.name,
    description: `${card.description}\nStarts a run of pack ${program.id} ${program.version} and waits for it.`,
    inputSchema: inputSchema(variablesOf(program, agent)),
    outputSchema: jsonSchemaOf(summary),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    meta: {
      "packloop/pack": { id: program.id, version: program.version, digest },
      "packloop/agent": agent.key,
    },
    scopes: ["runs:write"],
    async call(args, { parts, principal, key }) {
      const { query, variables } = checkedArguments(agentArguments, args);
      const wish: RunWish = {
        ...startOf(agent),
        digest,
        variables,
        input: query,
        key,
        requestHash: createHash("sha256")
          .update(canonical([agent.key, args]))
          .digest("hex"),
        setup: { mcp: { agent: agent.key } },
      };
      const { record } = await beginRun(parts, principal, wish);
      return { kind: "run", run: record.run, wait: true };
    },
  };
}

/** What is wrong with the values of variables is said when the run starts, for all of them at once. */
const agentArguments = z.strictObject({ query: z.string().optional(), variables: jsonObject.optional() });

function startOf({ key, start }: AgentOfPack): Pick<RunWish, "agent" | "prompt"> {
  if ("state" in start) return { agent: key };
  return "prompt" in start ? { prompt: start.prompt } : {};
}

/** `agent_PACK_AGENT`, or `agent_PACK` where the pack as a whole is the agent. */
function toolName({ id, agents }: Program, { key }: AgentOfPack): string {
  const whole = agents === null ? `agent_${id}` : `agent_${id}_${key}`;
  const plain = whole.replaceAll(/[^\w-]+/g, "-");
  if (plain.length <= NAME_MAX && plain === whole) return plain;
  // Two names that only differ in what is left out stay two names.
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, 8);
  return `${plain.slice(0, NAME_MAX - 9)}-${hash}`;
}

function variablesOf(program: Program, agent: AgentOfPack): readonly VariableSpec[] {
  const byName = new Map<string, VariableSpec>();
  for (const prompt of reachablePrompts(program, runStart(program, agent)))
    for (const variable of program.prompts[prompt]?.variables ?? []) {
      const known = byName.get(variable.name);
      if (known === undefined || (variable.required && !known.required)) byName.set(variable.name, variable);
    }
  return [...byName.values()];
}

function runStart({ workflow, prompts }: Program, { start }: AgentOfPack): RunStart {
  if ("state" in start) return { kind: "state", name: start.state };
  if ("prompt" in start) return { kind: "prompt", name: start.prompt };
  if (workflow !== null) return { kind: "state", name: workflow.entry };
  return { kind: "prompt", name: Object.keys(prompts)[0] ?? "" };
}

function inputSchema(variables: readonly VariableSpec[]): JsonObject {
  const properties: Record<string, Json> = {};
  const required: string[] = [];
  for (const variable of variables) {
    put(properties, variable.name, variableSchema(variable));
    if (variable.required && variable.defaultValue === undefined) required.push(variable.name);
  }
  const query = { type: "string", description: "The task, in words." };
  const group = { type: "object", properties, required, description: "Values for the agent's prompts." };
  return {
    type: "object",
    properties: { query, ...(variables.length > 0 && { variables: group }) },
    // An agent that is told everything by its variables needs no words beside them.
    required: required.length > 0 ? ["variables"] : ["query"],
    additionalProperties: false,
  };
}

const TYPES: ReadonlySet<string> = new Set(["string", "number", "boolean", "object", "array"]);
/** Rules of packs that JSON Schema has under another name, or under the same. */
const RULES = [
  ["enum", "enum"],
  ["minimum", "minimum"],
  ["maximum", "maximum"],
  ["min_length", "minLength"],
  ["max_length", "maxLength"],
] as const;

function variableSchema({ type, description, defaultValue, validation }: VariableSpec): JsonObject {
  const rules = RULES.flatMap(([ours, theirs]) => {
    const value = get(validation, ours);
    return value === undefined ? [] : [[theirs, value] as const];
  });
  return {
    ...(TYPES.has(type) && { type }),
    ...(description !== "" && { description }),
    ...(defaultValue !== undefined && defaultValue !== null && { default: defaultValue }),
    ...Object.fromEntries(rules),
  };
}
