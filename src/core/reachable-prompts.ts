// The prompts a run may come to, so that their variables can be asked for before anything starts (S40).

import { isObject } from "../base/json.ts";
import { compositionOf } from "./composition.ts";
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
  const uses = reachableStates(workflow, start.name).flatMap((name) => usesIn(program, workflow, name));
  const prompts = new Set(uses.map(({ prompt }) => prompt));
  return [...prompts].filter((prompt) => Object.hasOwn(program.prompts, prompt));
}

/** Variables that a prompt always gets from the steps it is used in, so that nobody has to give them. */
export function suppliedBySteps(program: Program, start: RunStart): ReadonlyMap<string, ReadonlySet<string>> {
  const supplied = new Map<string, ReadonlySet<string>>();
  const { workflow } = program;
  if (start.kind === "prompt" || workflow === null) return supplied;
  for (const name of reachableStates(workflow, start.name)) {
    for (const { prompt, gives } of usesIn(program, workflow, name)) {
      const before = supplied.get(prompt);
      const both = before === undefined ? gives : [...before].filter((one) => gives.has(one));
      supplied.set(prompt, new Set(both));
    }
  }
  return supplied;
}

interface PromptUse {
  readonly prompt: string;
  /** `input`, and the fields of an input that is written as an object. */
  readonly gives: ReadonlySet<string>;
}

function usesIn(program: Program, { states }: WorkflowSpec, name: string): readonly PromptUse[] {
  const state = states[name];
  if (state === undefined) return [];
  const composition = compositionOf(program, name);
  if (composition === undefined && state.composition === null)
    return state.promptTask === null ? [] : [{ prompt: state.promptTask, gives: new Set() }];
  return (composition?.parts ?? []).flatMap((part) => {
    if (part.kind !== "prompt" && part.kind !== "agent") return [];
    const fields = isObject(part.input) ? Object.keys(part.input) : [];
    return [{ prompt: part.prompt, gives: new Set(["input", ...fields]) }];
  });
}

export function reachableStates({ states }: WorkflowSpec, start: string): readonly string[] {
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
