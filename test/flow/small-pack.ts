// Random small workflows, as an author would write them, and their two forms: a linked program made directly,
// and the text of a pack. The choices are those the bound depends on: limits, redirect chains,
// self-redirects, terminal and external states, budgets, tool policies, several entry points.

import { put } from "../../src/base/json.ts";
import type { Program, PromptSpec, StateSpec } from "../../src/core/program.ts";

export interface SmallPrompt {
  readonly name: string;
  readonly tools: readonly string[];
  readonly blocked: readonly string[];
  readonly choice: "auto" | "required" | "none";
  readonly rounds: number;
  readonly calls: number;
}

export interface SmallState {
  readonly name: string;
  readonly prompt: number;
  readonly orchestration: "internal" | "external" | "hybrid";
  /** The flag as written; a state without events is terminal all the same. */
  readonly terminal: boolean;
  readonly events: readonly (readonly [event: string, target: string])[];
  readonly max: number | null;
  readonly fallback: string | null;
}

export interface SmallPack {
  readonly entry: string;
  readonly states: readonly SmallState[];
  readonly prompts: readonly SmallPrompt[];
  /** States that agents start at. */
  readonly agentStates: readonly string[];
  readonly hasArtifact: boolean;
  readonly nudges: number;
  readonly visitsMax: number | null;
  readonly toolCallsMax: number | null;
  readonly modelCallsMax: number | null;
  readonly wallTimeSec: number | null;
}

export type Random = () => number;

/** A small generator of uniform numbers in [0, 1): the same seed gives the same workflow for ever. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const plainNames = ["a", "b", "c", "d", "e", "f"];
/** Keys that an object would answer for by itself, or put in another order. */
const oddNames = ["__proto__", "constructor", "7", "toString", "1", "hasOwnProperty"];

export function smallPack(random: Random): SmallPack {
  const below = (n: number) => Math.floor(random() * n);
  const chance = (p: number) => random() < p;
  const names = (chance(0.05) ? oddNames : plainNames).slice(0, 2 + below(5));
  const nameOf = () => names[below(names.length)] as string;
  const target = () => (chance(0.01) ? "nowhere" : nameOf());
  const prompts = Array.from({ length: 1 + below(3) }, (_, i) => smallPrompt(`p${i}`, { below, chance }));
  // Half of the packs keep every run going for as long as guards let them: there the long runs are.
  const eventsMin = chance(0.5) ? 1 : 0;
  const terminal = chance(0.5) ? 0.15 : 0.03;
  const guarded = [0.2, 0.5, 0.7, 0.9, 1][below(5)] as number;
  const states = names.map((name): SmallState => {
    const max = chance(guarded) ? 1 + below(3) : null;
    return {
      name,
      prompt: below(prompts.length),
      orchestration: chance(0.75) ? "internal" : chance(0.6) ? "external" : "hybrid",
      terminal: chance(terminal),
      events: Array.from(
        { length: eventsMin + below(4 - eventsMin) },
        (_, i) => [`E${i}`, target()] as const,
      ),
      max,
      fallback: max !== null && chance(0.75) ? target() : null,
    };
  });
  const maybe = (p: number, most: number) => (chance(p) ? 1 + below(most) : null);
  return {
    entry: nameOf(),
    states,
    prompts,
    agentStates: chance(0.3) ? Array.from({ length: 1 + below(2) }, nameOf) : [],
    hasArtifact: chance(0.5),
    nudges: below(3),
    visitsMax: maybe(0.4, chance(0.8) ? 12 : 40),
    toolCallsMax: maybe(0.2, 30),
    modelCallsMax: maybe(0.2, 40),
    wallTimeSec: maybe(0.2, 600),
  };
}

interface Dice {
  readonly below: (n: number) => number;
  readonly chance: (p: number) => boolean;
}

function smallPrompt(name: string, { below, chance }: Dice): SmallPrompt {
  const tools = ["look", "write"].filter(() => chance(0.5));
  return {
    name,
    tools,
    blocked: tools.filter(() => chance(0.2)),
    choice: chance(0.8) ? "auto" : chance(0.5) ? "required" : "none",
    rounds: 1 + below(5),
    calls: 1 + below(6),
  };
}

/** Each state an entry point of its own, `workflow.entry` first. */
export function entryPointsOf(pack: SmallPack): readonly string[] {
  return [...new Set([pack.entry, ...pack.agentStates])];
}

/** The linked form, made without text. */
export function programOf(pack: SmallPack): Program {
  const states: Record<string, StateSpec> = {};
  for (const state of pack.states) put(states, state.name, stateSpec(pack, state));
  const prompts: Record<string, PromptSpec> = {};
  for (const prompt of pack.prompts) put(prompts, prompt.name, promptSpec(prompt));
  const note = { type: "text/plain", mode: "replace", description: "" } as const;
  return {
    ...nothingElse,
    prompts,
    workflow: {
      entry: pack.entry,
      states,
      artifacts: pack.hasArtifact ? { note } : {},
      budget: {
        visitsMax: pack.visitsMax,
        toolCallsMax: pack.toolCallsMax,
        modelCallsMax: pack.modelCallsMax,
        wallTimeSec: pack.wallTimeSec,
        inputTokensMax: null,
        outputTokensMax: null,
        costUsdMax: null,
      },
      nudges: pack.nudges,
      wallClock: "total",
      resultBindings: {},
    },
  };
}

const nothingElse = {
  id: "small",
  name: "Small",
  version: "1.0.0",
  description: "",
  syntax: "{{variable}}",
  tools: {},
  fragments: {},
  agents: null,
  compositions: {},
  providers: [],
  skills: [],
  evals: [],
  metadata: {},
};

function stateSpec(pack: SmallPack, state: SmallState): StateSpec {
  const terminal = state.terminal || state.events.length === 0;
  const events: Record<string, string> = {};
  if (!terminal) for (const [event, target] of state.events) put(events, event, target);
  return {
    description: "",
    orchestration: state.orchestration,
    promptTask: (pack.prompts[state.prompt] as SmallPrompt).name,
    composition: null,
    events,
    terminal,
    persistent: false,
    control: "user",
    maxVisits: state.max,
    onMaxVisits: state.fallback,
    artifacts: {},
    skills: null,
    extensions: {},
  };
}

function promptSpec(prompt: SmallPrompt): PromptSpec {
  return {
    name: prompt.name,
    description: "",
    version: "1.0.0",
    systemTemplate: "Go on.",
    variables: [],
    tools: prompt.tools.filter((tool) => !prompt.blocked.includes(tool)),
    toolChoice: prompt.choice,
    roundsMax: prompt.rounds,
    callsPerTurnMax: prompt.calls,
    provider: "default",
    parameters: {},
    modelOverrides: {},
    validators: [],
    evals: [],
    media: null,
    pipeline: null,
    extensions: {},
  };
}

/** The pack as a YAML file. */
export function textOf(pack: SmallPack): string {
  const lines = [
    "id: small",
    "name: Small",
    "version: 1.0.0",
    'template_engine: { version: v1, syntax: "{{variable}}" }',
    "tools:",
    ...["look", "write"].map((tool) => `  ${tool}: { name: ${tool}, description: A tool. }`),
    "prompts:",
    ...pack.prompts.map(promptLine),
    // A member is a prompt, so each entry point gets one of its own.
    ...pack.agentStates.map(
      (_, i) => `  m${i}: { id: m${i}, name: M, version: 1.0.0, system_template: Go on. }`,
    ),
    "workflow:",
    "  version: 2",
    `  entry: ${JSON.stringify(pack.entry)}`,
    `  engine: ${JSON.stringify(engineOf(pack))}`,
    "  states:",
    ...pack.states.map((state, i) => stateLine(pack, state, i)),
  ];
  if (pack.agentStates.length > 0) {
    lines.push("agents:", "  entry: m0", "  members:");
    for (const [i, state] of pack.agentStates.entries())
      lines.push(`    m${i}: { state: ${JSON.stringify(state)} }`);
  }
  return `${lines.join("\n")}\n`;
}

function promptLine(prompt: SmallPrompt): string {
  const policy = {
    tool_choice: prompt.choice,
    max_rounds: prompt.rounds,
    max_tool_calls_per_turn: prompt.calls,
    blocklist: prompt.blocked,
  };
  const rest = `tools: ${JSON.stringify(prompt.tools)}, tool_policy: ${JSON.stringify(policy)}`;
  const { name } = prompt;
  return `  ${name}: { id: ${name}, name: P, version: 1.0.0, system_template: Go on., ${rest} }`;
}

function engineOf(pack: SmallPack) {
  const { visitsMax, toolCallsMax, wallTimeSec, modelCallsMax } = pack;
  return {
    nudges: pack.nudges,
    budget: {
      ...(visitsMax !== null && { max_total_visits: visitsMax }),
      ...(toolCallsMax !== null && { max_tool_calls: toolCallsMax }),
      ...(wallTimeSec !== null && { max_wall_time_sec: wallTimeSec }),
    },
    ...(modelCallsMax !== null && { budget_ext: { max_model_calls: modelCallsMax } }),
  };
}

function stateLine(pack: SmallPack, state: SmallState, index: number): string {
  const parts = [
    `prompt_task: ${(pack.prompts[state.prompt] as SmallPrompt).name}`,
    `orchestration: ${state.orchestration}`,
  ];
  if (state.terminal) parts.push("terminal: true");
  if (state.events.length > 0) {
    parts.push(
      `on_event: { ${state.events.map(([event, to]) => `${event}: ${JSON.stringify(to)}`).join(", ")} }`,
    );
  }
  if (state.max !== null) parts.push(`max_visits: ${state.max}`);
  if (state.fallback !== null) parts.push(`on_max_visits: ${JSON.stringify(state.fallback)}`);
  if (index === 0 && pack.hasArtifact) parts.push("artifacts: { note: { type: text/plain } }");
  return `    ${JSON.stringify(state.name)}: { ${parts.join(", ")} }`;
}
