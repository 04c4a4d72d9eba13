import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/base/json.ts";
import type { Program, StateSpec } from "../../src/core/program.ts";
import { singlePromptLimits, type VisitLimits, visitLimits } from "../../src/core/visit-limits.ts";
import { packOf } from "./notation.ts";
import { programOf, type SmallPrompt, type SmallState } from "./small-pack.ts";

const talker: SmallPrompt = { name: "talker", tools: [], blocked: [], choice: "auto", rounds: 5, calls: 10 };
const worker: SmallPrompt = { ...talker, name: "worker", tools: ["look", "write"], rounds: 3, calls: 4 };

function limitsOf(
  state: Partial<SmallState>,
  prompt: SmallPrompt,
  rest: Parameters<typeof packOf>[1] = {},
): VisitLimits {
  const pack = packOf("s → s; end terminal", { prompts: [prompt], ...rest });
  const [first, end] = pack.states as [SmallState, SmallState];
  return visitLimits(programOf({ ...pack, states: [{ ...first, ...state }, end] }), "s");
}

test("a state that moves on is offered the transition: rounds, a conclusion and a nudge", () => {
  expect(limitsOf({}, talker)).toEqual({ modelCalls: 5 + 1 + 1, toolCalls: 0 });
  expect(limitsOf({}, worker, { nudges: 2 })).toEqual({ modelCalls: 3 + 1 + 2, toolCalls: 4 });
});

test("only internal states are nudged, and external ones call no model", () => {
  expect(limitsOf({ orchestration: "hybrid" }, worker)).toEqual({ modelCalls: 3 + 1, toolCalls: 4 });
  expect(limitsOf({ orchestration: "external" }, worker)).toEqual({ modelCalls: 0, toolCalls: 0 });
});

test("a terminal state with nothing to call makes one model call", () => {
  expect(limitsOf({ terminal: true }, talker)).toEqual({ modelCalls: 1, toolCalls: 0 });
  expect(limitsOf({ terminal: true }, worker)).toEqual({ modelCalls: 3 + 1, toolCalls: 4 });
  expect(limitsOf({ terminal: true }, talker, { hasArtifact: true })).toEqual({
    modelCalls: 5 + 1,
    toolCalls: 0,
  });
});

test("tools that may not be called do not count", () => {
  expect(limitsOf({ terminal: true }, { ...worker, choice: "none" })).toEqual({
    modelCalls: 1,
    toolCalls: 0,
  });
  expect(limitsOf({ terminal: true }, { ...worker, blocked: worker.tools })).toEqual({
    modelCalls: 1,
    toolCalls: 0,
  });
});

test("skills are something to call, unless the state wants none", () => {
  const program = programOf(packOf("s terminal", { prompts: [talker] }));
  const taught = {
    ...program,
    skills: [{ name: "tone", description: "How to write.", instructions: "Be brief." }],
  };
  expect(visitLimits(program, "s").modelCalls).toBe(1);
  expect(visitLimits(taught, "s").modelCalls).toBe(5 + 1);
  expect(visitLimits(withState(taught, { skills: "none" }), "s").modelCalls).toBe(1);
  const prompt = taught.prompts["talker"];
  expect(prompt && singlePromptLimits(prompt).modelCalls).toBe(1);
  expect(prompt && singlePromptLimits(prompt, true).modelCalls).toBe(5 + 1);
});

function withState(program: Program, change: Partial<StateSpec>): Program {
  const workflow = program.workflow as NonNullable<Program["workflow"]>;
  const states = { ...workflow.states, s: { ...(workflow.states["s"] as StateSpec), ...change } };
  return { ...program, workflow: { ...workflow, states } };
}

const retry = { retry: { max_attempts: 3 } };
const agent = { id: "a", kind: "agent", prompt_task: "worker", termination: { max_steps: 2 } };

test.each<[string, Json, VisitLimits]>([
  [
    "one call for a prompt",
    { id: "a", kind: "prompt", prompt_task: "worker" },
    { modelCalls: 1, toolCalls: 0 },
  ],
  ["one for a tool", { id: "a", kind: "tool", tool: "look" }, { modelCalls: 0, toolCalls: 1 }],
  ["a loop and its conclusion for an agent", agent, { modelCalls: 2 + 1, toolCalls: 4 }],
  [
    "the prompt's rounds without max_steps",
    { ...agent, termination: {} },
    { modelCalls: 3 + 1, toolCalls: 4 },
  ],
  ["a single call for an agent without tools", { ...agent, tools: [] }, { modelCalls: 1, toolCalls: 0 }],
  ["every attempt of an agent", { ...agent, modifiers: retry }, { modelCalls: 9, toolCalls: 12 }],
  [
    "every attempt of a tool",
    { id: "a", kind: "tool", tool: "look", modifiers: retry },
    { modelCalls: 0, toolCalls: 3 },
  ],
  [
    "nothing for a branch",
    { id: "a", kind: "branch", predicate: {}, else: "b" },
    { modelCalls: 0, toolCalls: 0 },
  ],
  [
    "all branches side by side",
    { id: "a", kind: "parallel", branches: [agent, agent] },
    { modelCalls: 6, toolCalls: 8 },
  ],
])("a composition counts %s", (_, step, expected) => {
  const program = programOf(packOf("s terminal", { prompts: [worker] }));
  const composed = { ...program, compositions: { c: { version: 1, steps: [step] } satisfies JsonObject } };
  const state = { orchestration: "composition", composition: "c", promptTask: null } as const;
  expect(visitLimits(withState(composed, state), "s")).toEqual(expected);
});
