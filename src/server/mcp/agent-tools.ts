// One tool for each agent of the registered packs: a call starts a run as that agent and waits for it.

import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { canonical, type Json, type JsonObject, put } from "../../base/json.ts";
import type { Program, VariableSpec } from "../../core/program.ts";
import { type RunStart, reachablePrompts } from "../../core/reachable-prompts.ts";
import { type AgentOfPack, agentCards } from "../../pack/agent-cards.ts";
import { beginRun, type RunWish } from "../begin-run.ts";
import { summary } from "../schemas/run-shapes.ts";
import { jsonObject } from "../schemas/shared.ts";
import type { SideFile } from "../side-file.ts";
import { checkedArguments } from "./checked-arguments.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import type { McpTool } from "./mcp-call.ts";
import { clientName, offeredByPacks, type SpeakingPack } from "./speaking-packs.ts";
import { isNeeded, variableSchema } from "./variable-schema.ts";

const made = new WeakMap<SpeakingPack, readonly McpTool[]>();

/** In the order of their names. */
export const agentTools = (side: SideFile): readonly McpTool[] =>
  offeredByPacks(side, made, ({ program, digest }) =>
    agentCards(program).map((agent) => agentTool(program, digest, agent)),
  );

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
const toolName = ({ id, agents }: Program, { key }: AgentOfPack): string =>
  clientName(agents === null ? `agent_${id}` : `agent_${id}_${key}`);

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
    if (isNeeded(variable)) required.push(variable.name);
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
