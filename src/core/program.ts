// The linked form of a pack: what the engine runs and the checker reasons about. Every name in it resolves.
// Two packs that mean the same link to equal programs, so the digest of a program is the identity of a pack:
// labels, formatting, key order and settings without effect are not part of it.

import type { Json, JsonObject } from "../base/json.ts";

export interface Program {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly syntax: string;
  readonly prompts: Readonly<Record<string, PromptSpec>>;
  readonly tools: Readonly<Record<string, ToolSpec>>;
  readonly fragments: Readonly<Record<string, string>>;
  readonly workflow: WorkflowSpec | null;
  readonly agents: AgentsSpec | null;
  readonly compositions: Readonly<Record<string, JsonObject>>;
  readonly providers: readonly ProviderSpec[];
  readonly skills: readonly Json[];
  readonly evals: readonly Json[];
  readonly metadata: JsonObject;
  /** JSON Schemas in files that compositions name, by the name; absent in a pack that names none. */
  readonly schemas?: Readonly<Record<string, JsonObject>>;
  /** What was found at the paths of `skills`, by the path; absent in a pack that names none. */
  readonly skillFiles?: Readonly<Record<string, readonly SkillFile[]>>;
}

/** A skill in a folder beside the pack. */
export interface SkillFile {
  /** Of the skill itself, relative to the pack. */
  readonly folder: string;
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** Other texts in its folder, by their path in it. */
  readonly resources: Readonly<Record<string, string>>;
}

export interface WorkflowSpec {
  readonly entry: string;
  readonly states: Readonly<Record<string, StateSpec>>;
  /** Every artifact of the workflow with the definition that holds where a state gives none (S34). */
  readonly artifacts: Readonly<Record<string, ArtifactSpec>>;
  readonly budget: BudgetSpec;
  readonly nudges: number;
  readonly wallClock: "total" | "active";
  readonly resultBindings: Readonly<Record<string, ResultBinding>>;
  /** What the values of JSON artifacts must look like; absent in a pack that says nothing about it. */
  readonly artifactSchemas?: Readonly<Record<string, JsonObject>>;
}

export interface StateSpec {
  readonly description: string;
  readonly orchestration: "internal" | "external" | "hybrid" | "composition";
  readonly promptTask: string | null;
  readonly composition: string | null;
  /** Event to target state. Empty on a terminal state, where no event can fire (S8). */
  readonly events: Readonly<Record<string, string>>;
  readonly terminal: boolean;
  readonly persistent: boolean;
  readonly control: "user" | "agent";
  readonly maxVisits: number | null;
  readonly onMaxVisits: string | null;
  readonly artifacts: Readonly<Record<string, ArtifactSpec>>;
  readonly skills: string | null;
  readonly extensions: JsonObject;
}

export interface ArtifactSpec {
  readonly type: string;
  readonly mode: "replace" | "append";
  readonly description: string;
}

export interface BudgetSpec {
  readonly visitsMax: number | null;
  readonly toolCallsMax: number | null;
  readonly wallTimeSec: number | null;
  readonly modelCallsMax: number | null;
  readonly inputTokensMax: number | null;
  readonly outputTokensMax: number | null;
  readonly costUsdMax: number | null;
}

export interface ResultBinding {
  readonly artifact: string;
  readonly path: string | null;
}

export interface PromptSpec {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly systemTemplate: string;
  readonly variables: readonly VariableSpec[];
  /** Tools the model is offered here: listed by the prompt and not blocklisted. */
  readonly tools: readonly string[];
  readonly toolChoice: "auto" | "required" | "none";
  readonly roundsMax: number;
  readonly callsPerTurnMax: number;
  readonly provider: string;
  readonly parameters: JsonObject;
  readonly modelOverrides: JsonObject;
  readonly validators: readonly ValidatorSpec[];
  readonly evals: readonly Json[];
  readonly media: Json;
  readonly pipeline: Json;
  readonly extensions: JsonObject;
}

export interface VariableSpec {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly defaultValue: Json | undefined;
  readonly description: string;
  readonly validation: JsonObject;
  readonly binding: JsonObject;
}

export interface ValidatorSpec {
  readonly id: string | null;
  readonly type: string;
  readonly message: string | null;
  readonly params: JsonObject;
  readonly extensions: JsonObject;
}

export interface ToolSpec {
  readonly description: string;
  readonly parameters: JsonObject;
  readonly actionScope: JsonObject;
  readonly extensions: JsonObject;
}

export interface AgentsSpec {
  readonly entry: string;
  readonly members: Readonly<Record<string, AgentSpec>>;
}

export interface AgentSpec {
  readonly description: string;
  readonly tags: readonly string[];
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
  readonly state: string | null;
  readonly governance: JsonObject;
  readonly extensions: JsonObject;
}

export interface ProviderSpec {
  readonly key: string;
  readonly role: string;
  readonly required: boolean;
  readonly capabilities: JsonObject;
}
