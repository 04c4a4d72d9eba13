// Small workflows in one line: `a(2, end) → g; g(3, b) → a; b → g; end terminal`. The first state is the
// entry. Events are named after their order: E0, E1 and so on.

import { type Flow, flowOf } from "../../src/core/flow.ts";
import { type Analysis, analyse } from "../../src/pack/flow/analysis.ts";
import { type Bound, boundOf } from "../../src/pack/flow/bound.ts";
import { programOf, type SmallPack, type SmallState } from "./small-pack.ts";

export function packOf(line: string, budget: Partial<SmallPack> = {}): SmallPack {
  const states = line.split(";").map((part) => stateOf(part.trim()));
  return {
    entry: (states[0] as SmallState).name,
    states,
    prompts: [{ name: "p", tools: [], blocked: [], choice: "auto", rounds: 5, calls: 10 }],
    agentStates: [],
    hasArtifact: false,
    nudges: 1,
    visitsMax: null,
    toolCallsMax: null,
    modelCallsMax: null,
    wallTimeSec: null,
    ...budget,
  };
}

function stateOf(text: string): SmallState {
  const parts = /^(\w+)(?:\((\d+)(?:, (\w+))?\))? (?:→ ([\w, ]+)|terminal)$/.exec(text);
  if (parts === null) throw new Error(`not a state: ${text}`);
  const [, name, max, fallback, targets] = parts;
  return {
    name: name as string,
    prompt: 0,
    orchestration: "internal",
    terminal: targets === undefined,
    events: (targets ?? "")
      .split(", ")
      .filter((target) => target !== "")
      .map((target, i) => [`E${i}`, target] as const),
    max: max === undefined ? null : Number(max),
    fallback: fallback ?? null,
  };
}

export function bounded(pack: SmallPack, limit?: number): { flow: Flow; analysis: Analysis; bound: Bound } {
  const program = programOf(pack);
  const flow = flowOf(program);
  const analysis = analyse(flow, flow.entry, limit);
  return { flow, analysis, bound: boundOf(program, analysis, flow) };
}
