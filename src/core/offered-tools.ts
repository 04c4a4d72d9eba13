// The tools a model is offered in a state: what its prompt lists, and the reserved ones (S17, S41).

import { get, type Json, type JsonObject } from "../base/json.ts";
import { kept } from "../base/kept.ts";
import type { HostTool, HostTools } from "./facts.ts";
import type { AgentSpec, Program, PromptSpec, WorkflowSpec } from "./program.ts";
import { SET_ARTIFACT, TRANSITION } from "./reserved.ts";
import { skillTools } from "./skills.ts";

export interface OfferedTool {
  readonly name: string;
  /** `host`: the pack does not say what it is; whoever runs the pack must bind it. */
  readonly kind: "pack" | "agent" | "host" | "workflow";
  readonly description: string;
  readonly parameters: JsonObject;
}

interface ToolsRequest {
  readonly prompt: string;
  /** No state, no reserved tools: a pack without workflow has nothing to move. */
  readonly state: string | null;
  readonly host?: HostTools | undefined;
  /** A part of the state's composition, with the tools it offers instead of the prompt's. */
  readonly part?: string;
  readonly tools?: readonly string[];
}

/** By program, by the host's tools (the program where there are none), then by prompt and state. */
const offered = new WeakMap<Program, WeakMap<object, Map<string, readonly OfferedTool[]>>>();

/** The same list for the same place every time: it is asked for in every round. */
export function offeredTools(program: Program, request: ToolsRequest): readonly OfferedTool[] {
  const { prompt, state, host, part } = request;
  const byHost = kept(offered, program, () => new WeakMap());
  const byPlace = kept(byHost, host ?? program, () => new Map());
  // The length tells where a prompt's name ends and a state's begins.
  const where = `${prompt.length} ${prompt}${state === null ? "" : ` ${state}`}`;
  const place = part === undefined ? where : `${part} of ${where}`;
  return kept(byPlace, place, () => findTools(program, request));
}

function findTools(program: Program, request: ToolsRequest): readonly OfferedTool[] {
  const { prompt, state, host } = request;
  const names = request.tools ?? ownOf(program.prompts, prompt)?.tools ?? [];
  const listed = names.flatMap((name) => {
    return packTool(program, name) ?? agentTool(program, name) ?? hostTools(host ?? {}, name);
  });
  // A part of a composition has a task of its own; skills are for the states.
  const skills = request.part === undefined ? skillTools(program, state) : [];
  const learning = skills.map((tool): OfferedTool => ({ ...tool, kind: "workflow" }));
  return [...listed, ...reservedTools(program, state), ...learning];
}

function packTool(program: Program, name: string): OfferedTool | undefined {
  const tool = ownOf(program.tools, name);
  return tool && { name, kind: "pack", description: tool.description, parameters: tool.parameters };
}

/** A member by its key, or by the name the reference runtime gives it. */
function agentTool(program: Program, name: string): OfferedTool | undefined {
  const members = program.agents?.members ?? {};
  const key = Object.hasOwn(members, name) ? name : name.replace(/^a2a__/, "");
  const member: AgentSpec | undefined = ownOf(members, key);
  if (member === undefined) return undefined;
  const prompt: PromptSpec | undefined = ownOf(program.prompts, key);
  return {
    name,
    kind: "agent",
    description: member.description === "" ? (prompt?.description ?? "") : member.description,
    parameters: objectSchema({ query: { type: "string" }, variables: { type: "object" } }, ["query"]),
  };
}

/** A name, or `mcp__files__*` for everything the host has under it. */
function hostTools(host: HostTools, listed: string): readonly OfferedTool[] {
  const names = Object.keys(host).filter((name) => isListed(listed, name));
  if (names.length === 0 && !listed.endsWith("*"))
    return [{ name: listed, kind: "host", description: "", parameters: objectSchema({}, []) }];
  return names.map((name) => ({ name, kind: "host", ...(host[name] as HostTool) }));
}

/** Whether a prompt that lists `listed` means the tool. */
export function isListed(listed: string, tool: string): boolean {
  if (listed === tool || `a2a__${listed}` === tool) return true;
  return listed.endsWith("*") && tool.startsWith(listed.slice(0, -1));
}

function reservedTools({ workflow }: Program, name: string | null): readonly OfferedTool[] {
  const state = workflow === null || name === null ? undefined : ownOf(workflow.states, name);
  if (workflow === null || state === undefined) return [];
  const tools: OfferedTool[] = [];
  const events = Object.keys(state.events);
  // Outside events move an external state (S27), and its steps a composition (S29).
  const moves = state.orchestration === "internal" || state.orchestration === "hybrid";
  if (moves && events.length > 0) {
    const event = { type: "string", enum: events };
    tools.push({
      name: TRANSITION,
      kind: "workflow",
      description: "Leave this state by one of its events. `context` is shown in the next state.",
      parameters: objectSchema({ event, context: { type: "string" } }, ["event"]),
    });
  }
  const artifacts = Object.keys(workflow.artifacts);
  if (artifacts.length > 0) {
    tools.push({
      name: SET_ARTIFACT,
      kind: "workflow",
      description: `Write an artifact of this workflow.${schemasText(workflow)}`,
      parameters: objectSchema({ name: { type: "string", enum: artifacts }, value: {} }, ["name", "value"]),
    });
  }
  return tools;
}

/** A model cannot meet a schema it has not seen. */
function schemasText({ artifactSchemas = {} }: WorkflowSpec): string {
  const lines = Object.entries(artifactSchemas).map(
    ([name, schema]) => `\n${name}: ${JSON.stringify(schema)}`,
  );
  return lines.length === 0 ? "" : ` Values must fit these schemas:${lines.join("")}`;
}

const objectSchema = (properties: JsonObject, required: readonly string[]): JsonObject => {
  return { type: "object", properties, required, additionalProperties: false };
};

/** Parameters of the model call: the override's, field by field, over the prompt's. */
export function parametersFor(prompt: PromptSpec, model: string | undefined): JsonObject {
  const override: Json | undefined =
    model === undefined ? undefined : get(get(prompt.modelOverrides, model), "parameters");
  return { ...prompt.parameters, ...(override as JsonObject | undefined) };
}

function ownOf<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
