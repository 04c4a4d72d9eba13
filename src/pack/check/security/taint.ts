// Where content of one class travels (least fixed point): a state is exposed to it by a tool, by an artifact
// its template reads, or by a conversation it keeps; whatever an exposed state is meant to write carries it
// on.

import { type Flow, type FlowState, isGuarded, NONE } from "../../../core/flow.ts";
import { artifactFlow } from "../artifacts/artifact-flow.ts";
import { type CheckContext, onKey, type Place } from "../rule.ts";
import { type OfferedTool, visitedSites, workSites } from "./work-sites.ts";

/** Why a state is exposed, and the state and tool the content comes from in the first place. */
type Cause = Origin &
  (
    | { readonly kind: "tool" }
    | { readonly kind: "artifact"; readonly artifact: string }
    | { readonly kind: "conversation"; readonly from: number }
  );

interface Origin {
  readonly tool: OfferedTool;
  readonly source: number;
}

export interface Taint {
  /** By state index; the shortest way the content takes. */
  readonly exposed: ReadonlyMap<number, Cause>;
  /** By artifact: the state that may write the content into it. */
  readonly carriers: ReadonlyMap<string, number>;
}

export function taintOf(context: CheckContext, kind: "outside" | "private"): Taint {
  const { reads, writers } = artifactFlow(context);
  const { classes } = workSites(context);
  const visited = visitedSites(context).filter((site) => site.state !== NONE);
  const isVisited = new Set(visited.map((site) => site.state));
  const exposed = new Map<number, Cause>();
  const carriers = new Map<string, number>();
  for (const { state, tools } of visited) {
    const tool = tools.find(({ name }) => classes(name)[kind]);
    if (tool !== undefined) exposed.set(state, { kind: "tool", tool, source: state });
  }
  const expose = (state: number, cause: Cause): void => {
    if (isVisited.has(state) && !exposed.has(state)) exposed.set(state, cause);
  };
  const readers = statesByArtifact(reads);
  const written = artifactsByState(writers);
  // A map gives entries added while it is walked, so this visits every exposed state once.
  for (const [state, { tool, source }] of exposed) {
    for (const artifact of written.get(state) ?? []) {
      if (carriers.has(artifact)) continue;
      carriers.set(artifact, state);
      for (const reader of readers.get(artifact) ?? [])
        expose(reader, { kind: "artifact", artifact, tool, source });
    }
    for (const next of enteredFrom(context.flow, state)) {
      if (isPersistent(context, next)) expose(next, { kind: "conversation", from: state, tool, source });
    }
  }
  return { exposed, carriers };
}

function statesByArtifact(
  reads: readonly ReadonlyMap<string, unknown>[],
): ReadonlyMap<string, readonly number[]> {
  const states = new Map<string, number[]>();
  for (const [state, row] of reads.entries()) {
    for (const artifact of row.keys()) {
      const row = states.get(artifact) ?? [];
      row.push(state);
      states.set(artifact, row);
    }
  }
  return states;
}

function artifactsByState(
  writers: ReadonlyMap<string, ReadonlySet<number>>,
): ReadonlyMap<number, readonly string[]> {
  const artifacts = new Map<number, string[]>();
  for (const [artifact, states] of writers) {
    for (const state of states) {
      const row = artifacts.get(state) ?? [];
      row.push(artifact);
      artifacts.set(state, row);
    }
  }
  return artifacts;
}

/** States an event of this one may lead to, guards that divert it included. */
function enteredFrom({ states }: Flow, from: number): ReadonlySet<number> {
  const entered = new Set((states[from] as FlowState).events.map((event) => event.target));
  for (const target of entered) {
    const state = states[target] as FlowState;
    if (isGuarded(state) && state.fallback !== NONE) entered.add(state.fallback);
  }
  return entered;
}

/** Only a persistent state goes on with the conversation of the state before it (S23). */
function isPersistent({ flow, program }: CheckContext, state: number): boolean {
  return program.workflow?.states[flow.states[state]?.name ?? ""]?.persistent === true;
}

/** Places shown of a long way: the source and the last ones. */
const PASSED_MAX = 6;

/** The way of the content into a state, from the tool it comes from: one entry for each place it passes. */
export function trailTo(context: CheckContext, { exposed, carriers }: Taint, state: number): Trail {
  const { tool, source } = exposed.get(state) as Cause;
  const passed: Passed[] = [];
  let at = state;
  // Causes lead to states exposed earlier, so the walk ends.
  while (at !== source && passed.length < PASSED_MAX) {
    const cause = exposed.get(at) as Cause;
    if (cause.kind === "artifact") {
      at = carriers.get(cause.artifact) as number;
      passed.push(writing(context, at, cause.artifact));
    } else if (cause.kind === "conversation") {
      const name = nameOf(context, at);
      const message = `\`${name}\` keeps the conversation`;
      passed.push({ at: onKey("workflow", "states", name, "persistence"), message });
      at = cause.from;
    }
  }
  passed.push({ at: tool.at, message: `enters \`${nameOf(context, source)}\` by \`${tool.name}\`` });
  return { tool, passed: passed.toReversed() };
}

const nameOf = ({ flow }: CheckContext, state: number): string => flow.states[state]?.name ?? "";

interface Passed {
  readonly at: Place;
  readonly message: string;
}

interface Trail {
  readonly tool: OfferedTool;
  readonly passed: readonly Passed[];
}

/** Where a state is meant to write an artifact: its declaration, or the state that offers the tool. */
export function writing(context: CheckContext, state: number, artifact: string): Passed {
  const name = nameOf(context, state);
  return {
    at: onKey("workflow", "states", name, "artifacts", artifact),
    message: `\`${name}\` may write it to \`${artifact}\``,
  };
}
