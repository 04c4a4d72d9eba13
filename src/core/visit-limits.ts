// How much one visit may spend (S11, S16, S20): used by the engine to stop and by the checker to prove.

import { isObject, type Json, type JsonObject } from "../base/json.ts";
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
  if (name === null || !Object.hasOwn(program.compositions, name)) return nothing;
  return stepListLimits(program, program.compositions[name]?.["steps"]);
}

function stepListLimits(program: Program, steps: Json | undefined): VisitLimits {
  let modelCalls = 0;
  let toolCalls = 0;
  for (const step of Array.isArray(steps) ? (steps as readonly Json[]) : []) {
    const limits = isObject(step) ? stepLimits(program, step) : nothing;
    modelCalls += limits.modelCalls;
    toolCalls += limits.toolCalls;
  }
  return { modelCalls, toolCalls };
}

/** A step that is tried again asks again, and what it asks for counts again. */
function stepLimits(program: Program, step: JsonObject): VisitLimits {
  const attempts = attemptsOf(step["modifiers"]);
  switch (step["kind"]) {
    case "prompt":
      return { modelCalls: attempts, toolCalls: 0 };
    case "tool":
      return { modelCalls: 0, toolCalls: attempts };
    case "agent": {
      const prompt = promptOf(program, step["prompt_task"]);
      const steps = isObject(step["termination"]) ? step["termination"]["max_steps"] : undefined;
      const rounds = typeof steps === "number" ? steps : (prompt?.roundsMax ?? 0);
      const tools = Array.isArray(step["tools"]) ? step["tools"].length : (prompt?.tools.length ?? 0);
      if (prompt === undefined || tools === 0) return { modelCalls: attempts, toolCalls: 0 };
      return { modelCalls: (rounds + 1) * attempts, toolCalls: prompt.callsPerTurnMax * attempts };
    }
    case "parallel": {
      const once = stepListLimits(program, step["branches"]);
      return { modelCalls: once.modelCalls * attempts, toolCalls: once.toolCalls * attempts };
    }
    default:
      return nothing;
  }
}

function attemptsOf(modifiers: Json | undefined): number {
  const retry = isObject(modifiers) ? modifiers["retry"] : undefined;
  const attempts = isObject(retry) ? retry["max_attempts"] : undefined;
  return typeof attempts === "number" ? attempts : 1;
}

function promptOf(program: Program, name: Json | undefined): PromptSpec | undefined {
  return typeof name === "string" && Object.hasOwn(program.prompts, name) ? program.prompts[name] : undefined;
}
