// Everything the rules of one pack share, computed once.

import { type Path, toPointer } from "../../base/json.ts";
import { type Flow, flowOf, NONE } from "../../core/flow.ts";
import type { Program } from "../../core/program.ts";
import { type Analysis, analyse } from "../flow/analysis.ts";
import { type Bound, boundOf, promptBound } from "../flow/bound.ts";
import { linkPack, type SchemaFile, type SkillFolder } from "../link.ts";
import { entryAt, type Node, nodeAt } from "../read/tree.ts";
import type { PackFile } from "../shape/generated/pack-file.ts";
import { templateUses } from "../template-uses.ts";
import type { CheckConfig, CheckContext } from "./rule.ts";

interface ContextInput {
  readonly pack: PackFile;
  readonly broken: ReadonlySet<string>;
  readonly root: Node;
  readonly text: string;
  readonly config: CheckConfig;
  readonly strict: boolean;
  readonly limit: number | undefined;
  readonly schemaFile: SchemaFile | undefined;
  readonly skillFolder: SkillFolder | undefined;
}

export function checkContext(input: ContextInput): CheckContext {
  const { pack, broken, root } = input;
  const program = linkPack(pack, input.schemaFile, input.skillFolder);
  const damagedStates = statesIn(broken);
  const flow = withDamage(flowOf(program), damagedStates);
  const analyses = entryPoints(program, flow).map((start) => analyse(flow, start, input.limit));
  let bounds: readonly Bound[] | undefined;
  return {
    pack,
    program,
    root,
    text: input.text,
    isBroken: (...path: Path) => isBroken(broken, path),
    exists: (...path: Path) => entryAt(root, path) !== undefined || nodeAt(root, path) !== undefined,
    flow,
    analyses,
    get bounds() {
      bounds ??= boundsOf(program, flow, analyses);
      return bounds;
    },
    damagedStates,
    templates: templateUses(pack),
    config: input.config,
    strict: input.strict,
  };
}

/** The value itself, or one around it, was refused. */
function isBroken(broken: ReadonlySet<string>, path: Path): boolean {
  if (broken.size === 0) return false;
  for (let length = path.length; length > 0; length--) {
    if (broken.has(toPointer(path.slice(0, length)))) return true;
  }
  return false;
}

function boundsOf(program: Program, flow: Flow, analyses: readonly Analysis[]): readonly Bound[] {
  if (program.workflow === null) return [promptBound(program)];
  return analyses.map((analysis) => boundOf(program, analysis, flow));
}

/** Parts of a state that do not change where runs go or how often. */
const OUTSIDE_THE_GRAPH = new Set([
  "prompt_task",
  "description",
  "persistence",
  "control",
  "composition",
  "skills",
  "artifacts",
  "extensions",
]);

/** States with a refused part that belongs to the graph. An unknown key may be a guard misspelt. */
function statesIn(broken: ReadonlySet<string>): ReadonlySet<string> {
  const states = new Set<string>();
  for (const pointer of broken) {
    const [, workflow, under, state, part] = pointer.split("/");
    if (workflow !== "workflow" || under !== "states" || state === undefined || part === undefined) continue;
    if (!OUTSIDE_THE_GRAPH.has(part)) states.add(state.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return states;
}

function withDamage(flow: Flow, damaged: ReadonlySet<string>): Flow {
  if (damaged.size === 0) return flow;
  const states = flow.states.map((state) =>
    damaged.has(state.name) ? { ...state, incomplete: true } : state,
  );
  return { ...flow, states };
}

/** `workflow.entry`, then the states agents start at, each once. */
function entryPoints(program: Program, flow: Flow): readonly number[] {
  const starts = new Set<number>();
  if (flow.entry !== NONE) starts.add(flow.entry);
  for (const member of Object.values(program.agents?.members ?? {})) {
    const index = flow.states.findIndex((state) => state.name === member.state);
    if (index !== NONE) starts.add(index);
  }
  return [...starts];
}
