// What a run can cost together with the runs it starts: calling an agent is a tool call of the parent and a
// run of its own (S41, S42). The parent's most calls of an agent are multiplied by what one call can cost.

import { get, isObject, type Json, put } from "../../base/json.ts";
import type { AgentSpec, Program, PromptSpec, StateSpec } from "../../core/program.ts";
import { singlePromptLimits, visitLimits } from "../../core/visit-limits.ts";
import type { Bound } from "./bound.ts";

/**
 * Null where no number holds; agents that call each other in a circle are stopped by nothing but the depth
 * limit.
 */
interface Cost {
  readonly visits: number | null;
  readonly model_calls: number | null;
  readonly tool_calls: number | null;
}

export interface WithChildren extends Cost {
  /**
   * For each agent the run may call: the most calls, and what one of them can cost, its own children
   * included.
   */
  readonly agents: Readonly<Record<string, Cost & { readonly calls: number | null }>>;
}

/** A pack with the bounds of its entry points. */
export interface BoundedProgram {
  readonly program: Program;
  readonly bounds: readonly Bound[];
}

export function withChildren(pack: BoundedProgram, bound: Bound): WithChildren {
  const costs = new AgentCosts(pack);
  const calls = callsOfRun(pack.program, bound);
  const agents: Record<string, Cost & { readonly calls: number | null }> = {};
  for (const [agent, most] of calls)
    put(agents, agent, { calls: finite(most), ...written(costs.ofOneCall(agent)) });
  return { ...written(costs.total(ownOf(bound), calls)), agents };
}

/** Numbers inside are `Infinity` where none holds. */
interface Sum {
  readonly visits: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
}

const endless: Sum = { visits: Infinity, modelCalls: Infinity, toolCalls: Infinity };

class AgentCosts {
  readonly #pack: BoundedProgram;
  readonly #known = new Map<string, Sum>();

  constructor(pack: BoundedProgram) {
    this.#pack = pack;
  }

  ofOneCall(agent: string): Sum {
    const known = this.#known.get(agent);
    if (known !== undefined) return known;
    // Met again before its cost is known, the agent is called by its own children.
    this.#known.set(agent, endless);
    const cost = this.#costOf(agent);
    this.#known.set(agent, cost);
    return cost;
  }

  total(own: Sum, calls: ReadonlyMap<string, number>): Sum {
    let { visits, modelCalls, toolCalls } = own;
    for (const [agent, most] of calls) {
      const each = this.ofOneCall(agent);
      visits += times(most, each.visits);
      modelCalls += times(most, each.modelCalls);
      toolCalls += times(most, each.toolCalls);
    }
    return { visits, modelCalls, toolCalls };
  }

  #costOf(agent: string): Sum {
    const { program, bounds } = this.#pack;
    const { state } = member(program, agent) as AgentSpec;
    if (state !== null) {
      const bound = bounds.find((one) => one.entry === state);
      return bound === undefined ? endless : this.total(ownOf(bound), callsOfRun(program, bound));
    }
    const prompt = promptOf(program, agent);
    if (prompt === undefined) return endless;
    const { modelCalls, toolCalls } = singlePromptLimits(prompt, program.skills.length > 0);
    return this.total({ visits: 1, modelCalls, toolCalls }, callsOfPrompt(program, prompt));
  }
}

/** The most calls of each agent in one run. Every call of a visit may be to the same agent. */
function callsOfRun(program: Program, bound: Bound): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  for (const [name, visits] of Object.entries(bound.perState)) {
    const { toolCalls } = visitLimits(program, name);
    for (const agent of agentsIn(program, program.workflow?.states[name] as StateSpec)) {
      const more = times(visits ?? Infinity, toolCalls);
      calls.set(agent, Math.min((calls.get(agent) ?? 0) + more, bound.toolCalls ?? Infinity));
    }
  }
  if (program.workflow !== null) return calls;
  for (const prompt of Object.values(program.prompts)) {
    for (const [agent, most] of callsOfPrompt(program, prompt))
      calls.set(agent, Math.max(calls.get(agent) ?? 0, most));
  }
  return calls;
}

function callsOfPrompt(program: Program, prompt: PromptSpec): ReadonlyMap<string, number> {
  const { toolCalls } = singlePromptLimits(prompt);
  return new Map(
    toolCalls === 0 ? [] : agentsAmong(program, prompt.tools).map((agent) => [agent, toolCalls]),
  );
}

function agentsIn(program: Program, state: StateSpec): readonly string[] {
  if (state.orchestration !== "composition") {
    return agentsAmong(program, promptOf(program, state.promptTask)?.tools ?? []);
  }
  return agentsAmong(
    program,
    toolsOfSteps(program, get(get(program.compositions, state.composition ?? ""), "steps")),
  );
}

function toolsOfSteps(program: Program, steps: Json | undefined): readonly string[] {
  const names: (Json | undefined)[] = [];
  for (const step of Array.isArray(steps) ? (steps as readonly Json[]) : []) {
    if (!isObject(step)) continue;
    const listed = get(step, "tools");
    names.push(get(step, "tool"), ...(Array.isArray(listed) ? (listed as readonly Json[]) : []));
    if (listed === undefined && step["kind"] === "agent") {
      names.push(...(promptOf(program, get(step, "prompt_task"))?.tools ?? []));
    }
    names.push(...toolsOfSteps(program, get(step, "branches")));
  }
  return names.filter((name) => typeof name === "string");
}

/** A tool of the pack hides an agent of the same name. */
function agentsAmong(program: Program, tools: readonly string[]): readonly string[] {
  const agents = new Set<string>();
  for (const tool of tools) {
    if (Object.hasOwn(program.tools, tool)) continue;
    const agent = tool.startsWith("a2a__") ? tool.slice("a2a__".length) : tool;
    if (member(program, agent) !== undefined) agents.add(agent);
  }
  return [...agents];
}

function member(program: Program, agent: string): AgentSpec | undefined {
  const members = program.agents?.members ?? {};
  return Object.hasOwn(members, agent) ? members[agent] : undefined;
}

function promptOf(program: Program, name: Json | undefined): PromptSpec | undefined {
  return typeof name === "string" && Object.hasOwn(program.prompts, name) ? program.prompts[name] : undefined;
}

function ownOf({ visits, modelCalls, toolCalls }: Bound): Sum {
  return { visits: visits ?? Infinity, modelCalls: modelCalls ?? Infinity, toolCalls: toolCalls ?? Infinity };
}

function written({ visits, modelCalls, toolCalls }: Sum): Cost {
  return { visits: finite(visits), model_calls: finite(modelCalls), tool_calls: finite(toolCalls) };
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
/** No calls of something endless cost nothing. */
const times = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : a * b);
