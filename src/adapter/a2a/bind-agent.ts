// A remote agent as packloop.yaml binds it: `ask_legal: {agent: "https://legal.example", …}`. To packs it is a
// tool with the arguments and the result of an agent of their own: `{query, variables?}` in, `{status, response,
// artifacts}` out (S41).

import type { Part } from "@a2a-js/sdk";
import { isObject, type Json, type JsonObject, put } from "../../base/json.ts";
import { type CallContext, Fault, type ToolAnswer } from "../../engine/ports.ts";
import { cut } from "../mcp/tool-result.ts";
import { type BoundTool, type Surroundings, toolError } from "../tool/bound-tool.ts";
import { argumentReader, type ReadArguments } from "../tool/call-arguments.ts";
import type { OptionReader } from "../tool/option-reader.ts";
import { ToolProblem } from "../tool/tool-problem.ts";
import type { AgentCall } from "./agent-call.ts";
import { type AgentDefinition, notConfigured, readAgent } from "./agent-definition.ts";
import { callAgent, stopAgent } from "./call-agent.ts";
import type { RemoteAgents } from "./remote-agents.ts";
import { dataPart, textPart } from "./task-question.ts";

export interface AgentUse {
  /** What the pack calls the tool. */
  readonly name: string;
  readonly agents: RemoteAgents;
  /** The binding says that a message may be sent again when its end is unknown (S46). */
  readonly safe: boolean;
}

export interface BoundAgent {
  readonly tool: BoundTool;
  /** The tool with what its card says about it, for models. */
  readonly open: (signal: AbortSignal) => Promise<BoundTool>;
}

const TIMEOUT_SEC = 60;
const RESULT_BYTES = 262_144;
const RESULT_BYTES_MAX = 10_000_000;
const DESCRIPTION_BYTES = 8192;
/** A run may start while its agents are away. */
const DESCRIBE_MS = 10_000;

export function bindAgent(reader: OptionReader, around: Surroundings, use: AgentUse): BoundAgent {
  const definition = readAgent(reader, around);
  const limits = readLimits(reader);
  const argumentsOf = argumentReader(reader, SPELLINGS);
  const callOf = (context: CallContext): AgentCall => {
    if (definition === undefined) throw notConfigured(use.name);
    const { label, hide } = definition;
    return { ...use, ...limits, definition, around, label, hide, context };
  };
  const tool: BoundTool = {
    tier: "egress",
    safe: use.safe,
    call: (args, context) => answered(async () => callAgent(callOf(context), partsOf(args, argumentsOf))),
    stop: async (context) => stopAgent(callOf(context)),
  };
  return {
    tool,
    async open(signal) {
      const card =
        definition === undefined ? undefined : await cardOf(definition, { ...use, around, signal });
      return { ...tool, definition: { description: descriptionOf(card), parameters: PARAMETERS } };
    },
  };
}

function readLimits(reader: OptionReader): Pick<AgentCall, "timeoutMs" | "waitMs" | "maxBytes"> {
  const waitSec = reader.number("wait_sec", { least: 1, most: 31_536_000 });
  return {
    timeoutMs: 1000 * (reader.number("timeout_sec", { least: 0.1, most: 3600 }) ?? TIMEOUT_SEC),
    waitMs: waitSec === undefined ? undefined : 1000 * waitSec,
    maxBytes: reader.number("max_result_bytes", { least: 1024, most: RESULT_BYTES_MAX }) ?? RESULT_BYTES,
  };
}

async function answered(work: () => Promise<ToolAnswer>): Promise<ToolAnswer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolProblem) return toolError(error.code, error.message);
    throw error;
  }
}

const SPELLINGS = {
  query: ["message", "text", "input", "prompt", "question", "task"],
  variables: ["data"],
};

/** The query is said, everything else goes along as data; without a query all of it is said as JSON. */
function partsOf(args: Json, argumentsOf: ReadArguments): Part[] {
  const given = argumentsOf(args);
  const query = given.any("query");
  if (typeof query !== "string" || !isObject(args))
    return [textPart(typeof args === "string" ? args : JSON.stringify(args))];
  const variables = given.any("variables");
  const data: Record<string, Json> = {};
  for (const [name, value] of Object.entries(args))
    if (value !== query && value !== variables) put(data, name, value);
  if (isObject(variables)) for (const [name, value] of Object.entries(variables)) put(data, name, value);
  return Object.keys(data).length === 0 ? [textPart(query)] : [textPart(query), dataPart(data)];
}

interface Looking {
  readonly agents: RemoteAgents;
  readonly around: Surroundings;
  readonly signal: AbortSignal;
}

/** Undefined when the agent is away, or is not the one that was pinned: its own words are then not used. */
async function cardOf(
  definition: AgentDefinition,
  { agents, around, signal }: Looking,
): Promise<JsonObject | undefined> {
  try {
    const { card } = await agents.open(definition, { around, timeoutMs: DESCRIBE_MS, signal });
    return card;
  } catch (error) {
    if (error instanceof ToolProblem || error instanceof Fault) return undefined;
    throw error;
  }
}

function descriptionOf(card: JsonObject | undefined): string {
  if (card === undefined) return "Asks another agent and waits for its answer.";
  const skills = Array.isArray(card["skills"]) ? card["skills"].filter(isObject) : [];
  const lines = skills.map(({ name, description }) => `- ${said(name)}: ${said(description)}`);
  const about = `Asks the agent ${said(card["name"])}: ${said(card["description"])}`;
  return cut([about, ...lines].join("\n"), DESCRIPTION_BYTES);
}

const said = (value: Json | undefined): string => (typeof value === "string" ? value.trim() : "");

const PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    query: { type: "string", description: "what the agent is to do" },
    variables: { type: "object", description: "values that go along with it" },
  },
  required: ["query"],
};
