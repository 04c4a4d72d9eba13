// Who declares, reads and is meant to write each artifact. Any state may write any declared artifact (S32),
// so this speaks of intent: a state that declares it, or one that offers a tool bound to it (S35).

import { type Path, toPointer } from "../../../base/json.ts";
import type { Program, PromptSpec } from "../../../core/program.ts";
import { artifactName } from "../../../core/template.ts";
import { nodeAt } from "../../read/tree.ts";
import type { Artifact, Step, WorkflowState } from "../../shape/generated/pack-file.ts";
import { type TemplateUse } from "../../template-uses.ts";
import type { CheckContext } from "../rule.ts";
import { promptOfStep, stepsOf } from "./composition-steps.ts";

interface Declaration {
  readonly state: string;
  readonly name: string;
  readonly artifact: Artifact;
  readonly path: Path;
}

interface ArtifactFlow {
  /** In file order, by artifact. */
  readonly declarations: ReadonlyMap<string, readonly Declaration[]>;
  /**
   * By state, in the order of `flow.states`: the artifacts its prompts read, each with its first
   * placeholder.
   */
  readonly reads: readonly ReadonlyMap<string, TemplateUse>[];
  /** Intended writers by artifact, as indexes of `flow.states`. */
  readonly writers: ReadonlyMap<string, ReadonlySet<number>>;
}

const known = new WeakMap<CheckContext, ArtifactFlow>();

export function artifactFlow(context: CheckContext): ArtifactFlow {
  const before = known.get(context);
  if (before !== undefined) return before;
  const states = Object.entries(context.pack.workflow?.states ?? {});
  const declarations = declarationsOf(context, states);
  const flow = {
    declarations,
    reads: readsOf(context, states),
    writers: writersOf(context.program, states, { context, declarations }),
  };
  known.set(context, flow);
  return flow;
}

/**
 * Names of artifacts declared anywhere in the file, also by states with mistakes; undefined when a
 * declaration is so wrong that its names cannot be told.
 */
export function declaredArtifacts({ root, isBroken }: CheckContext): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  if (isBroken("workflow") || isBroken("workflow", "states")) return undefined;
  const states = nodeAt(root, ["workflow", "states"]);
  if (states?.kind !== "map") return names;
  for (const { value } of states.entries) {
    const artifacts = nodeAt(value, ["artifacts"]);
    if (artifacts === undefined) continue;
    if (artifacts.kind !== "map") return undefined;
    for (const { key } of artifacts.entries) names.add(key);
  }
  return names;
}

export interface ForeignRead {
  readonly index: number;
  readonly state: string;
  readonly artifact: string;
  readonly use: TemplateUse;
}

/** At most this many reads are looked at; a pack with more is not helped by the rest. */
const FOREIGN_READS_MAX = 2_000;

/** Reads of an artifact that another state declares and the reading one does not. */
export function foreignReads(context: CheckContext): readonly ForeignRead[] {
  const { declarations, reads } = artifactFlow(context);
  const found: ForeignRead[] = [];
  for (const [index, byArtifact] of reads.entries()) {
    const state = context.flow.states[index]?.name ?? "";
    for (const [artifact, use] of byArtifact) {
      if (!declarations.has(artifact) || context.exists("workflow", "states", state, "artifacts", artifact)) {
        continue;
      }
      if (found.length === FOREIGN_READS_MAX) return found;
      found.push({ index, state, artifact, use });
    }
  }
  return found;
}

/** The intended writers of an artifact when no run reaches any of them; undefined otherwise. */
export function unreachableWriters(context: CheckContext, artifact: string): readonly string[] | undefined {
  const { flow, analyses } = context;
  // Where a target does not exist, a typo may be all that keeps a writer from being reached.
  if (analyses.length === 0 || flow.states.some((state) => state.incomplete)) return undefined;
  const writers = [...(artifactFlow(context).writers.get(artifact) ?? [])];
  const isReached = (index: number) => analyses.some((analysis) => analysis.reachable.has(index));
  return writers.some(isReached) ? undefined : writers.map((index) => flow.states[index]?.name ?? "");
}

/** Prompts that run in a state: its own, or those of its composition's steps. */
export function promptsOfState(context: CheckContext, state: WorkflowState): readonly string[] {
  if (state.orchestration !== "composition")
    return state.prompt_task === undefined ? [] : [state.prompt_task];
  const prompts = stepsOfState(context, state).map(promptOfStep);
  return prompts.filter((prompt) => prompt !== undefined);
}

function stepsOfState({ pack }: CheckContext, { composition }: WorkflowState): readonly Step[] {
  const { compositions } = pack;
  if (composition === undefined || compositions === undefined) return [];
  if (!Object.hasOwn(compositions, composition)) return [];
  return stepsOf(compositions[composition] as NonNullable<(typeof compositions)[string]>);
}

type States = readonly (readonly [string, WorkflowState])[];

function declarationsOf({ isBroken }: CheckContext, states: States): Map<string, Declaration[]> {
  const byName = new Map<string, Declaration[]>();
  for (const [state, { artifacts = {} }] of states) {
    for (const [name, artifact] of Object.entries(artifacts)) {
      const path = ["workflow", "states", state, "artifacts", name];
      if (isBroken(...path, "type") || isBroken(...path, "mode")) continue;
      const list = byName.get(name) ?? [];
      list.push({ state, name, artifact, path });
      byName.set(name, list);
    }
  }
  return byName;
}

function readsOf(context: CheckContext, states: States): readonly ReadonlyMap<string, TemplateUse>[] {
  const byPrompt = new Map<string, Map<string, TemplateUse>>();
  for (const use of context.templates) {
    const name = artifactName(use.hole);
    if (name === undefined) continue;
    const reads = byPrompt.get(use.prompt) ?? new Map<string, TemplateUse>();
    if (!reads.has(name)) reads.set(name, use);
    byPrompt.set(use.prompt, reads);
  }
  const none = new Map<string, TemplateUse>();
  return states.map(([, state]) => {
    const [only = "", ...more] = promptsOfState(context, state);
    if (more.length === 0) return byPrompt.get(only) ?? none;
    const merged = new Map(byPrompt.get(only) ?? none);
    for (const prompt of more) {
      for (const [name, use] of byPrompt.get(prompt) ?? none) if (!merged.has(name)) merged.set(name, use);
    }
    return merged;
  });
}

interface WriterInput {
  readonly context: CheckContext;
  readonly declarations: ReadonlyMap<string, readonly Declaration[]>;
}

function writersOf(program: Program, states: States, { context, declarations }: WriterInput) {
  const writers = new Map<string, Set<number>>();
  const add = (artifact: string, index: number) => {
    const list = writers.get(artifact) ?? new Set();
    list.add(index);
    writers.set(artifact, list);
  };
  const targets = toolTargets(program, declarations);
  for (const [index, [, state]] of states.entries()) {
    for (const artifact of Object.keys(state.artifacts ?? {})) add(artifact, index);
    for (const tool of toolsOfState(context, state))
      for (const artifact of targets(tool)) add(artifact, index);
  }
  return writers;
}

/** What a listed tool writes: where its result is bound to, or the artifact with the tool's own name. */
function toolTargets(program: Program, declarations: ReadonlyMap<string, unknown>) {
  const bindings = Object.entries(program.workflow?.resultBindings ?? {});
  const bound = new Map(bindings.map(([tool, { artifact }]) => [tool, artifact]));
  return (listed: string): readonly string[] => {
    if (listed.endsWith("*")) {
      const prefix = listed.slice(0, -1);
      return bindings.filter(([tool]) => tool.startsWith(prefix)).map(([, { artifact }]) => artifact);
    }
    // An agent listed by its key answers to both names (S41).
    const target = bound.get(listed) ?? bound.get(`a2a__${listed}`);
    if (target !== undefined) return [target];
    return declarations.has(listed) ? [listed] : [];
  };
}

/** Tools that can be called while the state is visited. */
function toolsOfState(context: CheckContext, state: WorkflowState): readonly string[] {
  const { program } = context;
  if (state.orchestration !== "composition") return toolsOfPrompt(program, state.prompt_task);
  return stepsOfState(context, state).flatMap((step) => {
    if (step.kind === "tool") return [step.tool];
    return step.kind === "agent" ? (step.tools ?? toolsOfPrompt(program, step.prompt_task)) : [];
  });
}

function toolsOfPrompt({ prompts }: Program, name: string | undefined): readonly string[] {
  if (name === undefined || !Object.hasOwn(prompts, name)) return [];
  const { tools, toolChoice } = prompts[name] as PromptSpec;
  return toolChoice === "none" ? [] : tools;
}

/** One key for a placeholder, whatever prompt its text is used by. */
export const textKey = (use: TemplateUse): string => `${toPointer(use.path)}@${use.hole.start}`;
