// A pack file to its program (see core/program.ts). Linking copies and fills defaults; it decides nothing
// about right and wrong, so it also serves the checker on packs with mistakes.

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { canonical, type Json, type JsonObject, put } from "../base/json.ts";
import { fragmentNamed } from "../core/part-site.ts";
import type * as core from "../core/program.ts";
import { variableName } from "../core/template.ts";
import type { Composition as CompositionFile, PackFile, Step } from "./shape/generated/pack-file.ts";
import { templateUses } from "./template-uses.ts";

type PromptFile = PackFile["prompts"][string];
type WorkflowFile = NonNullable<PackFile["workflow"]>;
type StateFile = WorkflowFile["states"][string];

/** A JSON Schema in a file beside the pack, by the path that the pack has for it. */
export type SchemaFile = (path: string) => JsonObject | undefined;

/** The skills at a path beside the pack; undefined when nothing is there. */
export type SkillFolder = (path: string) => readonly core.SkillFile[] | undefined;

export function linkPack(
  pack: PackFile,
  schemaFile: SchemaFile = () => undefined,
  skillFolder: SkillFolder = () => undefined,
): core.Program {
  const usedBy = variablesInUse(pack);
  return {
    id: pack.id,
    name: pack.name,
    version: pack.version,
    description: pack.description ?? "",
    syntax: pack.template_engine.syntax,
    prompts: mapValues(pack.prompts, (prompt, key) => linkPrompt(prompt, usedBy.get(key) ?? new Set())),
    tools: mapValues(pack.tools ?? {}, (tool) => ({
      description: tool.description,
      parameters: json(tool.parameters) ?? { type: "object", properties: {} },
      actionScope: json(tool.action_scope) ?? {},
      extensions: json(tool.extensions) ?? {},
    })),
    fragments: mapValues(pack.fragments ?? {}, (text) => text),
    workflow: pack.workflow === undefined ? null : linkWorkflow(pack.workflow),
    agents: pack.agents === undefined ? null : linkAgents(pack.agents),
    compositions: mapValues(pack.compositions ?? {}, (one) => withoutBlocked(pack, one)),
    providers: (pack.requires?.providers ?? []).map(linkProvider),
    skills: jsonList(pack.skills),
    evals: jsonList(pack.evals),
    metadata: json(pack.metadata) ?? {},
    ...linkSchemas(pack, schemaFile),
    ...linkSkills(pack, skillFolder),
  };
}

function linkSkills({ skills = [] }: PackFile, skillFolder: SkillFolder): Pick<core.Program, "skillFiles"> {
  const skillFiles: Record<string, readonly core.SkillFile[]> = {};
  for (const source of skills) {
    const path = typeof source === "string" ? source : "path" in source ? source.path : undefined;
    const found = path === undefined ? undefined : skillFolder(path);
    if (path !== undefined && found !== undefined) put(skillFiles, path, found);
  }
  return Object.keys(skillFiles).length === 0 ? {} : { skillFiles };
}

/** A run carries what its compositions need: nothing is read beside the pack once it is linked. */
function linkSchemas(pack: PackFile, schemaFile: SchemaFile): Pick<core.Program, "schemas"> {
  const schemas: Record<string, JsonObject> = {};
  for (const path of schemaNames(pack)) {
    const schema = schemaFile(path);
    if (schema !== undefined) put(schemas, path, schema);
  }
  return Object.keys(schemas).length === 0 ? {} : { schemas };
}

function schemaNames({ compositions = {} }: PackFile): ReadonlySet<string> {
  const names = new Set<string>();
  const steps: Step[] = [];
  for (const { input_schema, output_schema, steps: own } of Object.values(compositions)) {
    for (const name of [input_schema, output_schema]) if (name !== undefined) names.add(name);
    steps.push(...own);
  }
  // A list that grows is iterated to its end; nesting is limited by the reader.
  for (const step of steps) {
    if (step.kind === "parallel") steps.push(...step.branches);
    else if (step.kind === "prompt" || step.kind === "agent")
      if (step.output_schema !== undefined) names.add(step.output_schema);
  }
  return new Set([...names].filter((name) => fragmentNamed(name) === undefined));
}

/** What a prompt's policy blocks, its steps are not offered either. */
function withoutBlocked(pack: PackFile, composition: CompositionFile): JsonObject {
  const open = (step: Step): Step => {
    if (step.kind === "parallel") return { ...step, branches: step.branches.map(open) };
    if (step.kind !== "agent" || step.tools === undefined) return step;
    const prompt = Object.hasOwn(pack.prompts, step.prompt_task) ? pack.prompts[step.prompt_task] : undefined;
    const blocked = new Set(prompt?.tool_policy?.blocklist ?? []);
    return blocked.size === 0 ? step : { ...step, tools: step.tools.filter((tool) => !blocked.has(tool)) };
  };
  return json({ ...composition, steps: composition.steps.map(open) }) as JsonObject;
}

/** SHA-256 of the program's canonical text: the identity that a run is pinned to (S3). */
export function digestOf(program: core.Program): string {
  return `sha256:${bytesToHex(sha256(utf8ToBytes(canonical(withoutUndefined(program as unknown as Json)))))}`;
}

function linkPrompt(prompt: PromptFile, used: ReadonlySet<string>): core.PromptSpec {
  const policy = prompt.tool_policy ?? {};
  const blocked = new Set(policy.blocklist ?? []);
  const variables = prompt.variables ?? [];
  return {
    name: prompt.name,
    description: prompt.description ?? "",
    version: prompt.version,
    systemTemplate: prompt.system_template,
    // An optional variable that no template mentions changes nothing.
    variables: variables.filter((variable) => variable.required || used.has(variable.name)).map(linkVariable),
    tools: [...new Set(prompt.tools ?? [])].filter((tool) => !blocked.has(tool)),
    toolChoice: policy.tool_choice ?? "auto",
    roundsMax: policy.max_rounds ?? 5,
    callsPerTurnMax: policy.max_tool_calls_per_turn ?? 10,
    provider: prompt.provider ?? "default",
    parameters: json(prompt.parameters) ?? {},
    modelOverrides: json(prompt.model_overrides) ?? {},
    validators: (prompt.validators ?? []).filter((one) => one.enabled !== false).map(linkValidator),
    evals: jsonList(prompt.evals),
    media: json(prompt.media) ?? null,
    pipeline: json(prompt.pipeline) ?? null,
    extensions: json(prompt.extensions) ?? {},
  };
}

function linkVariable(variable: NonNullable<PromptFile["variables"]>[number]): core.VariableSpec {
  return {
    name: variable.name,
    type: variable.type,
    required: variable.required,
    defaultValue: variable.default as Json | undefined,
    description: variable.description ?? "",
    validation: json(variable.validation) ?? {},
    binding: json(variable.binding) ?? {},
  };
}

function linkValidator(validator: NonNullable<PromptFile["validators"]>[number]): core.ValidatorSpec {
  return {
    id: validator.id ?? null,
    type: validator.type,
    message: validator.message ?? null,
    params: json(validator.params) ?? {},
    extensions: json(validator.extensions) ?? {},
  };
}

function linkWorkflow(workflow: WorkflowFile): core.WorkflowSpec {
  const engine = workflow.engine ?? {};
  const budget = engine.budget ?? {};
  const more = engine.budget_ext ?? {};
  return {
    entry: workflow.entry,
    states: mapValues(workflow.states, linkState),
    artifacts: sharedArtifacts(workflow),
    budget: {
      visitsMax: budget.max_total_visits ?? null,
      toolCallsMax: budget.max_tool_calls ?? null,
      wallTimeSec: budget.max_wall_time_sec ?? null,
      modelCallsMax: more.max_model_calls ?? null,
      inputTokensMax: more.max_input_tokens ?? null,
      outputTokensMax: more.max_output_tokens ?? null,
      costUsdMax: more.max_cost_usd ?? null,
    },
    nudges: engine.nudges ?? 1,
    wallClock: engine.wall_clock ?? "total",
    resultBindings: mapValues(engine.result_bindings ?? {}, (binding) =>
      typeof binding === "string"
        ? { artifact: binding, path: null }
        : { artifact: binding.artifact, path: binding.path ?? null },
    ),
    ...(engine.artifact_schemas !== undefined && {
      artifactSchemas: mapValues(engine.artifact_schemas, (schema) => json(schema) as JsonObject),
    }),
  };
}

function linkState(state: StateFile): core.StateSpec {
  const events = state.on_event ?? {};
  const terminal = state.terminal === true || Object.keys(events).length === 0;
  const orchestration = state.orchestration ?? "internal";
  return {
    description: state.description ?? "",
    orchestration,
    promptTask: state.prompt_task ?? null,
    composition: orchestration === "composition" ? (state.composition ?? null) : null,
    events: terminal ? {} : mapValues(events, (target) => target),
    terminal,
    persistent: state.persistence === "persistent",
    control: terminal ? "user" : (state.control ?? "user"),
    maxVisits: state.max_visits ?? null,
    onMaxVisits: state.max_visits === undefined ? null : (state.on_max_visits ?? null),
    artifacts: mapValues(state.artifacts ?? {}, linkArtifact),
    skills: state.skills ?? null,
    extensions: json(state.extensions) ?? {},
  };
}

function linkArtifact(artifact: NonNullable<StateFile["artifacts"]>[string]): core.ArtifactSpec {
  return { type: artifact.type, mode: artifact.mode ?? "replace", description: artifact.description ?? "" };
}

/** S34: where a state gives no definition of its own, the first in file order holds. */
function sharedArtifacts(workflow: WorkflowFile): Readonly<Record<string, core.ArtifactSpec>> {
  const artifacts: Record<string, core.ArtifactSpec> = {};
  for (const state of Object.values(workflow.states)) {
    for (const [name, artifact] of Object.entries(state.artifacts ?? {})) {
      if (!Object.hasOwn(artifacts, name)) put(artifacts, name, linkArtifact(artifact));
    }
  }
  return artifacts;
}

function linkAgents(agents: NonNullable<PackFile["agents"]>): core.AgentsSpec {
  return {
    entry: agents.entry,
    members: mapValues(agents.members, (member) => ({
      description: member.description ?? "",
      tags: member.tags ?? [],
      inputModes: member.input_modes ?? ["text/plain"],
      outputModes: member.output_modes ?? ["text/plain"],
      state: member.state ?? null,
      governance: json(member.governance) ?? {},
      extensions: json(member.extensions) ?? {},
    })),
  };
}

function linkProvider(
  provider: NonNullable<NonNullable<PackFile["requires"]>["providers"]>[number],
): core.ProviderSpec {
  if (typeof provider === "string") return { key: provider, role: "llm", required: true, capabilities: {} };
  const { key, role, required, capabilities } = provider;
  return { key, role, required: required ?? true, capabilities: json(capabilities) ?? {} };
}

function variablesInUse(pack: PackFile): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>();
  for (const use of templateUses(pack)) {
    const name = variableName(use.hole);
    if (name === undefined) continue;
    const names = used.get(use.prompt) ?? new Set();
    names.add(name);
    used.set(use.prompt, names);
  }
  return used;
}

function mapValues<T, U>(
  record: { readonly [key: string]: T },
  make: (value: T, key: string) => U,
): Readonly<Record<string, U>> {
  const result: Record<string, U> = {};
  for (const key of Object.keys(record)) put(result, key, make(record[key] as T, key));
  return result;
}

const json = (value: unknown): JsonObject | undefined => value as JsonObject | undefined;
const jsonList = (value: unknown): readonly Json[] => (value ?? []) as readonly Json[];

function withoutUndefined(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withoutUndefined(item));
  if (value === null || typeof value !== "object") return value;
  const result: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value as JsonObject)) {
    if (item !== undefined) put(result, key, withoutUndefined(item));
  }
  return result;
}
