// How much one visit may spend (S11, S16, S20): used by the engine to stop and by the checker to prove.

import { compositionNamed, type PartSpec } from "./composition.ts";
import { offersTools, partPrompt } from "./part-site.ts";
import type { Program, PromptSpec, StateSpec } from "./program.ts";

/** The most of each without new input from outside. A message into a waiting run adds to it. */
export interface VisitLimits {
  readonly modelCalls: number;
  readonly toolCalls: number;
}

const nothing: VisitLimits = { modelCalls: 0, toolCalls: 0 };

export function visitLimits(program: Program, stateName: string): VisitLimits {
  const { workflow } = program;
  if (workflow === null || !Object.hasOwn(workflow.states, stateName)) return nothing;
  const state = workflow.states[stateName] as StateSpec;
  if (state.orchestration === "external") return nothing;
  if (state.orchestration === "composition") return compositionLimits(program, state.composition);
  const prompt = promptOf(program, state.promptTask);
  if (prompt === undefined) return nothing;
  const moves = !state.terminal;
  const writes = Object.keys(workflow.artifacts).length > 0;
  const learns = program.skills.length > 0 && state.skills !== "none";
  const nudges = moves && state.orchestration === "internal" ? workflow.nudges : 0;
  return promptLimits(prompt, { reservedTools: moves || writes || learns, nudges });
}

/**
 * One prompt run once (S5, S42). Of the reserved tools it is offered those for skills, when the pack has any.
 */
export function singlePromptLimits(prompt: PromptSpec, hasSkills = false): VisitLimits {
  return promptLimits(prompt, { reservedTools: hasSkills, nudges: 0 });
}

function promptLimits(prompt: PromptSpec, with_: { reservedTools: boolean; nudges: number }): VisitLimits {
  const callable = prompt.toolChoice !== "none" && prompt.tools.length > 0;
  // The call after the last round of tools is made without pack tools, so that the model must conclude.
  const modelCalls = callable || with_.reservedTools ? prompt.roundsMax + 1 + with_.nudges : 1;
  return { modelCalls, toolCalls: callable ? prompt.callsPerTurnMax : 0 };
}

function compositionLimits(program: Program, name: string | null): VisitLimits {
  const composition = name === null ? undefined : compositionNamed(program, name);
  if (composition === undefined) return nothing;
  const top = composition.parts.filter(({ parent }) => parent === null);
  return sumOf(top.map((part) => partLimits(program, part)));
}

const sumOf = (limits: readonly VisitLimits[]): VisitLimits => ({
  modelCalls: limits.reduce((sum, one) => sum + one.modelCalls, 0),
  toolCalls: limits.reduce((sum, one) => sum + one.toolCalls, 0),
});

/** A step that is tried again asks again, and what it asks for counts again. */
function partLimits(program: Program, part: PartSpec): VisitLimits {
  const { modelCalls, toolCalls } = onceLimits(program, part);
  return { modelCalls: modelCalls * part.attemptsMax, toolCalls: toolCalls * part.attemptsMax };
}

function onceLimits(program: Program, part: PartSpec): VisitLimits {
  switch (part.kind) {
    case "tool":
      return { modelCalls: 0, toolCalls: 1 };
    case "prompt":
    case "agent": {
      if (promptOf(program, part.prompt) === undefined) return { modelCalls: 1, toolCalls: 0 };
      const prompt = partPrompt(program, part);
      if (!offersTools(prompt)) return { modelCalls: 1, toolCalls: 0 };
      return { modelCalls: prompt.roundsMax + 1, toolCalls: prompt.callsPerTurnMax };
    }
    case "parallel":
      return sumOf(part.branches.map((one) => partLimits(program, one)));
    default:
      return nothing;
  }
}

function promptOf(program: Program, name: string | null): PromptSpec | undefined {
  return name !== null && Object.hasOwn(program.prompts, name) ? program.prompts[name] : undefined;
}
