// What a run may wait for while its clock runs: outside events, and approvals of gated tools (S31).

import type { Json } from "../../../base/json.ts";
import { get } from "../../../base/json.ts";
import type { FlowState } from "../../../core/flow.ts";
import type { Analysis } from "../../flow/analysis.ts";
import type { CheckContext } from "../rule.ts";

interface Waits {
  /** External states some run enters and waits in. */
  readonly states: readonly string[];
  /** Gated tools that a state some run enters offers to the model. */
  readonly tools: readonly string[];
}

export function waitsOf(context: CheckContext): Waits {
  const { flow, analyses, config } = context;
  const states = new Set<string>();
  const tools = new Set<string>();
  for (const analysis of analyses) {
    const isGoverned = actsWithApproval(context, analysis);
    for (const index of analysis.reachable) {
      const state = flow.states[index] as FlowState;
      if (state.external) {
        if (!state.terminal) states.add(state.name);
        continue;
      }
      for (const tool of toolsOf(context, state.name)) {
        if (config.approvals.includes(tool) || (isGoverned && isConsequential(context, tool)))
          tools.add(tool);
      }
    }
  }
  const order = flow.states.map((state) => state.name);
  return { states: order.filter((name) => states.has(name)), tools: [...tools].sort() };
}

function toolsOf({ program }: CheckContext, name: string): readonly string[] {
  const state = program.workflow?.states[name];
  if (state?.orchestration === "composition") {
    return state.composition === null ? [] : stepTools(get(program.compositions, state.composition));
  }
  const task = state?.promptTask ?? null;
  if (task === null || !Object.hasOwn(program.prompts, task)) return [];
  return program.prompts[task]?.tools ?? [];
}

/** Tools named anywhere in a composition, branches included. Nesting is limited by the reader. */
function stepTools(part: Json | undefined): readonly string[] {
  const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
  const steps = [...listOf(get(part, "steps")), ...listOf(get(part, "branches"))];
  return steps.flatMap((step) => {
    const named = [get(step, "tool"), ...listOf(get(step, "tools"))];
    return [...named.filter((tool) => typeof tool === "string"), ...stepTools(step)];
  });
}

/** The governance of an agent overrides that of the pack field by field. */
function actsWithApproval({ program, flow }: CheckContext, { start }: Analysis): boolean {
  const levelOf = (governance: Json | undefined) => get(governance, "autonomy_level");
  const ofPack = levelOf(get(program.metadata, "governance"));
  const levels = start === flow.entry ? [ofPack] : [];
  for (const member of Object.values(program.agents?.members ?? {})) {
    if (member.state === flow.states[start]?.name) levels.push(levelOf(member.governance) ?? ofPack);
  }
  return levels.includes("acts_with_approval");
}

function isConsequential({ program }: CheckContext, tool: string): boolean {
  const scope = Object.hasOwn(program.tools, tool) ? program.tools[tool]?.actionScope : undefined;
  return get(scope, "effect") === "external" || get(scope, "reversibility") === "irreversible";
}
