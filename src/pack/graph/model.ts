// A pack as a picture sees it: boxes, arrows and where runs begin. Every format draws this and nothing else,
// so all of them tell the same story.

import { compositionOf } from "../../core/composition.ts";
import type { Program, StateSpec, WorkflowSpec } from "../../core/program.ts";

export interface GraphModel {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** A pack without a workflow is drawn as its prompts and the calls between agents. */
  readonly kind: "workflow" | "prompts";
  /** In file order. */
  readonly nodes: readonly GraphNode[];
  /** By their first node in file order; a node's redirect comes after its events. */
  readonly edges: readonly GraphEdge[];
}

export interface GraphNode {
  readonly name: string;
  readonly description: string;
  readonly entry: boolean;
  /** Agents whose calls begin here: entries of their own (S42). */
  readonly agents: readonly string[];
  readonly terminal: boolean;
  readonly external: boolean;
  readonly hybrid: boolean;
  /** The composition that is the state's work. */
  readonly composition: string | null;
  /** Ids of its steps, those inside parallel steps included; absent where nothing is composed. */
  readonly steps?: readonly string[];
  readonly guarded: boolean;
  readonly maxVisits: number | null;
  readonly onMaxVisits: string | null;
  readonly prompt: string | null;
  /** Of the run that is laid over the picture, if one is. */
  readonly visits?: number;
  readonly current?: boolean;
}

export interface GraphEdge {
  /** Indexes into `nodes`. */
  readonly from: number;
  readonly to: number;
  readonly kind: "event" | "redirect" | "call";
  /** The events that take this way, in file order; for a redirect or a call one phrase. */
  readonly labels: readonly string[];
  /** How often the run took each of them. */
  readonly taken?: readonly number[];
}

export function graphOf(program: Program): GraphModel {
  const { id, name, version, workflow } = program;
  const head = { id, name, version };
  return workflow === null
    ? { ...head, kind: "prompts", ...promptGraph(program) }
    : { ...head, kind: "workflow", ...stateGraph(program, workflow) };
}

type Drawn = Pick<GraphModel, "nodes" | "edges">;

function stateGraph(program: Program, workflow: WorkflowSpec): Drawn {
  const agents = agentsByState(program);
  const states = Object.entries(workflow.states);
  const indexByName = new Map(states.map(([name], index) => [name, index]));
  const nodes = states.map(([name, state]): GraphNode => {
    return {
      name,
      description: state.description,
      entry: name === workflow.entry,
      agents: agents.get(name) ?? [],
      terminal: state.terminal,
      external: state.orchestration === "external",
      hybrid: state.orchestration === "hybrid",
      composition: state.composition,
      ...stepsOf(program, name),
      guarded: state.maxVisits !== null,
      maxVisits: state.maxVisits,
      onMaxVisits: state.onMaxVisits,
      prompt: state.promptTask,
    };
  });
  const edges = states.flatMap(([, state], from) => edgesOf(state, from, indexByName));
  return { nodes, edges };
}

/** A target that names no state has no place in a picture; the checker has reported it. */
function edgesOf(
  state: StateSpec,
  from: number,
  indexByName: ReadonlyMap<string, number>,
): readonly GraphEdge[] {
  const labelsByTarget = new Map<number, string[]>();
  for (const [event, target] of Object.entries(state.events)) {
    const to = indexByName.get(target);
    if (to === undefined) continue;
    const labels = labelsByTarget.get(to);
    if (labels === undefined) labelsByTarget.set(to, [event]);
    else labels.push(event);
  }
  const edges: GraphEdge[] = [];
  for (const [to, labels] of labelsByTarget) edges.push({ from, to, kind: "event", labels });
  const { maxVisits, onMaxVisits } = state;
  const fallback = onMaxVisits === null ? undefined : indexByName.get(onMaxVisits);
  if (maxVisits !== null && fallback !== undefined) {
    const phrase = maxVisits === 1 ? "after 1 visit" : `after ${maxVisits} visits`;
    edges.push({ from, to: fallback, kind: "redirect", labels: [phrase] });
  }
  return edges;
}

function agentsByState({ agents }: Program): ReadonlyMap<string, readonly string[]> {
  const byState = new Map<string, string[]>();
  for (const [name, member] of Object.entries(agents?.members ?? {})) {
    if (member.state === null) continue;
    const names = byState.get(member.state);
    if (names === undefined) byState.set(member.state, [name]);
    else names.push(name);
  }
  return byState;
}

function stepsOf(program: Program, state: string): Pick<GraphNode, "steps"> {
  const composition = compositionOf(program, state);
  return composition === undefined ? {} : { steps: composition.parts.map(({ id }) => id) };
}

function promptGraph({ prompts, agents }: Program): Drawn {
  const specs = Object.entries(prompts);
  const entry = agents?.entry ?? (specs.length === 1 ? specs[0]?.[0] : undefined);
  const indexByName = new Map(specs.map(([name], index) => [name, index]));
  const nodes = specs.map(([name, prompt]): GraphNode => {
    return {
      name,
      description: prompt.description,
      entry: name === entry,
      agents: [],
      terminal: false,
      external: false,
      hybrid: false,
      composition: null,
      guarded: false,
      maxVisits: null,
      onMaxVisits: null,
      prompt: name,
    };
  });
  const edges: GraphEdge[] = [];
  for (const [from, [, prompt]] of specs.entries()) {
    const called = new Set(prompt.tools.map((tool) => memberOf(tool, agents?.members ?? {})));
    for (const member of called) {
      const to = member === undefined ? undefined : indexByName.get(member);
      if (to !== undefined) edges.push({ from, to, kind: "call", labels: ["calls"] });
    }
  }
  return { nodes, edges };
}

/** S41: a tool that names an agent, also in the spelling of the reference runtime. */
function memberOf(tool: string, members: object): string | undefined {
  if (Object.hasOwn(members, tool)) return tool;
  const bare = tool.startsWith("a2a__") ? tool.slice("a2a__".length) : "";
  return bare !== "" && Object.hasOwn(members, bare) ? bare : undefined;
}
