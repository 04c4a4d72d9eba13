// Where a model works: the states of the workflow, and prompts that run without one. For each, the tools it
// is offered and what they may do. An agent of the pack stands for everything its own run is offered.

import type { Path } from "../../../base/json.ts";
import { NONE } from "../../../core/flow.ts";
import type { Composition, Prompt, WorkflowState } from "../../shape/generated/pack-file.ts";
import { placedSteps } from "../compositions/step-list.ts";
import { type CheckContext, onKey, onValue, type Place } from "../rule.ts";
import { approvalGates, type IsGated } from "./approval-gates.ts";
import { classesOf, harmless, type ToolClasses } from "./tool-classes.ts";

export interface OfferedTool {
  readonly name: string;
  readonly at: Place;
}

export interface Site {
  readonly name: string;
  readonly kind: "state" | "prompt";
  readonly at: Place;
  /** Index in `flow.states`; `NONE` for a prompt that runs alone. */
  readonly state: number;
  readonly tools: readonly OfferedTool[];
}

interface WorkSites {
  /** One for each state, in the order of `flow.states`. */
  readonly states: readonly Site[];
  /** Prompts a run may consist of: all of a pack without workflow, and agents without a state. */
  readonly alone: readonly Site[];
  readonly isGated: IsGated;
  /** What calling the tool may do; a call that waits for a person neither destroys nor sends. */
  readonly classes: (tool: string) => ToolClasses;
  /** The agent of the pack a tool name calls (S41). */
  readonly memberOf: (tool: string) => string | undefined;
}

const known = new WeakMap<CheckContext, WorkSites>();

export function workSites(context: CheckContext): WorkSites {
  const before = known.get(context);
  if (before !== undefined) return before;
  const states = stateSites(context);
  const isGated = approvalGates(context);
  const memberOf = memberNames(context);
  const sites = { states, alone: promptsAlone(context), isGated, memberOf };
  const made = { ...sites, classes: classifier(context, sites) };
  known.set(context, made);
  return made;
}

/** Sites that some run visits; those of members that nothing in the pack leads to are called from outside. */
export function visitedSites(context: CheckContext): readonly Site[] {
  const { states, alone } = workSites(context);
  const reached = states.filter((site) =>
    context.analyses.some(({ reachable }) => reachable.has(site.state)),
  );
  return [...reached, ...alone];
}

function stateSites(context: CheckContext): readonly Site[] {
  return Object.entries(context.pack.workflow?.states ?? {}).map(([name, state], index) => {
    const at = onKey("workflow", "states", name);
    return { name, kind: "state", at, state: index, tools: toolsOfState(context, state) };
  });
}

function promptsAlone(context: CheckContext): readonly Site[] {
  const { pack } = context;
  const members = Object.entries(pack.agents?.members ?? {});
  const names =
    pack.workflow === undefined
      ? Object.keys(pack.prompts)
      : members.filter(([, member]) => member.state === undefined).map(([name]) => name);
  return names.map((name) => {
    return {
      name,
      kind: "prompt",
      at: onKey("prompts", name),
      state: NONE,
      tools: toolsOfPrompt(context, name),
    };
  });
}

function toolsOfState(context: CheckContext, state: WorkflowState): readonly OfferedTool[] {
  const { compositions } = context.pack;
  if (state.orchestration !== "composition") return toolsOfPrompt(context, state.prompt_task);
  const name = state.composition;
  if (name === undefined || compositions === undefined || !Object.hasOwn(compositions, name)) return [];
  return toolsOfComposition(context, name, compositions[name] as Composition);
}

function toolsOfComposition(
  context: CheckContext,
  name: string,
  composition: Composition,
): readonly OfferedTool[] {
  return placedSteps(name, composition).flatMap(({ step, path }) => {
    if (step.kind === "tool") return [{ name: step.tool, at: onValue(...path, "tool") }];
    if (step.kind !== "agent") return [];
    return step.tools === undefined
      ? toolsOfPrompt(context, step.prompt_task)
      : listedTools(step.tools, [...path, "tools"]);
  });
}

function toolsOfPrompt({ pack }: CheckContext, name: string | undefined): readonly OfferedTool[] {
  if (name === undefined || !Object.hasOwn(pack.prompts, name)) return [];
  const { tools = [], tool_policy: policy } = pack.prompts[name] as Prompt;
  if (policy?.tool_choice === "none") return [];
  const blocked = new Set(policy?.blocklist);
  return listedTools(tools, ["prompts", name, "tools"]).filter((tool) => !blocked.has(tool.name));
}

function listedTools(names: readonly string[], path: Path): readonly OfferedTool[] {
  return names.map((name, index) => ({ name, at: onValue(...path, index) }));
}

function memberNames({ pack }: CheckContext): WorkSites["memberOf"] {
  const members = pack.agents?.members ?? {};
  return (tool) => {
    if (pack.tools !== undefined && Object.hasOwn(pack.tools, tool)) return undefined;
    const name = tool.startsWith("a2a__") ? tool.slice("a2a__".length) : tool;
    return Object.hasOwn(members, name) ? name : undefined;
  };
}

function classifier(context: CheckContext, sites: Omit<WorkSites, "classes">): WorkSites["classes"] {
  const asked = (tool: string, classes: ToolClasses): ToolClasses =>
    sites.isGated(tool) ? { ...classes, egress: false, destructive: false } : classes;
  const ofPlain = remembered((tool: string) => asked(tool, classesOf(context, tool)));
  const runs = remembered((member: string) =>
    agentRun(sitesOfAgent(context, sites, member), { ofPlain, sites }),
  );
  return remembered((tool) => {
    const member = sites.memberOf(tool);
    if (member === undefined) return ofPlain(tool);
    const called = new Set([member]);
    let all = harmless;
    for (const one of called) {
      const { classes, calls } = runs(one);
      all = union(all, classes);
      for (const next of calls) called.add(next);
    }
    return asked(tool, all);
  });
}

function remembered<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    const before = made.get(key);
    if (before !== undefined) return before;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}

interface AgentRun {
  /** What the tools of the run itself may do. */
  readonly classes: ToolClasses;
  /** Other agents it may call. */
  readonly calls: ReadonlySet<string>;
}

function agentRun(
  run: readonly Site[],
  { ofPlain, sites }: { ofPlain: (tool: string) => ToolClasses; sites: Omit<WorkSites, "classes"> },
): AgentRun {
  const calls = new Set<string>();
  let classes = harmless;
  for (const { name } of run.flatMap((site) => site.tools)) {
    const member = sites.memberOf(name);
    if (member === undefined) classes = union(classes, ofPlain(name));
    else calls.add(member);
  }
  return { classes, calls };
}

/** The sites of the run a call of this agent starts (S42). */
export function sitesOfAgent(
  context: CheckContext,
  { states, alone }: Pick<WorkSites, "states" | "alone">,
  member: string,
): readonly Site[] {
  const { pack, flow, analyses } = context;
  const start = pack.agents?.members[member]?.state;
  if (start === undefined) return alone.filter((site) => site.name === member);
  const analysis = analyses.find((one) => flow.states[one.start]?.name === start);
  return analysis === undefined ? [] : states.filter((site) => analysis.reachable.has(site.state));
}

function union(a: ToolClasses, b: ToolClasses): ToolClasses {
  return {
    outside: a.outside || b.outside,
    private: a.private || b.private,
    egress: a.egress || b.egress,
    destructive: a.destructive || b.destructive,
  };
}
