// The prompts a run may come to, so that their variables can be asked for before anything starts (S40).

import { get, isObject, type Json } from "../base/json.ts";
import type { Program, WorkflowSpec } from "./program.ts";

/** Where a run begins: a state of the workflow, or one prompt of a pack without (S5). */
export type RunStart =
  | { readonly kind: "state"; readonly name: string }
  | { readonly kind: "prompt"; readonly name: string };

/**
 * Prompts of every state some event or redirect may lead to, in the order of first meeting. An agent that is
 * called gets its variables from the caller, so its prompt is not one of them.
 */
export function reachablePrompts(program: Program, start: RunStart): readonly string[] {
  if (start.kind === "prompt") return [start.name];
  const { workflow } = program;
  if (workflow === null) return [];
  const prompts = new Set<string>();
  for (const name of reachableStates(workflow, start.name)) {
    const state = workflow.states[name];
    if (state?.composition !== undefined && state.composition !== null) {
      for (const prompt of compositionPrompts(get(program.compositions, state.composition)))
        prompts.add(prompt);
    } else if (state?.promptTask !== undefined && state.promptTask !== null) {
      prompts.add(state.promptTask);
    }
  }
  return [...prompts].filter((prompt) => Object.hasOwn(program.prompts, prompt));
}

function reachableStates({ states }: WorkflowSpec, start: string): readonly string[] {
  const found = new Set(Object.hasOwn(states, start) ? [start] : []);
  for (const name of found) {
    const state = states[name];
    if (state === undefined) continue;
    for (const target of [...Object.values(state.events), state.onMaxVisits]) {
      // A set that grows is iterated to its end, and it holds each state once.
      if (target !== null && Object.hasOwn(states, target)) found.add(target);
    }
  }
  return [...found];
}

function compositionPrompts(composition: Json | undefined): readonly string[] {
  const prompts: string[] = [];
  const steps: Json[] = listOf(get(composition, "steps"));
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at];
    if (!isObject(step)) continue;
    const prompt = get(step, "prompt_task");
    if (typeof prompt === "string") prompts.push(prompt);
    steps.push(...listOf(get(step, "branches")));
  }
  return prompts;
}

const listOf = (value: Json | undefined): Json[] =>
  Array.isArray(value) ? [...(value as readonly Json[])] : [];
