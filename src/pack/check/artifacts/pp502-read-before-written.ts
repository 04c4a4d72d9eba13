// PP502: a state reads an artifact on a run where nothing had the chance to write it.

import { type FlowState, isGuarded, NONE } from "../../../core/flow.ts";
import { type Exploration, explore } from "../../flow/explore.ts";
import { foldPath } from "../../flow/fold-path.ts";
import { type CheckContext, onKey, type Rule } from "../rule.ts";
import { artifactFlow, type ForeignRead, foreignReads, unreachableWriters } from "./artifact-flow.ts";
import { placeOfUse } from "./text-map.ts";

export const readBeforeWritten: Rule = {
  code: "PP502",
  severity: "info",
  title: "artifact may be read before it exists",
  explain:
    "There is a run that reaches this state without passing any state that is meant to write the " +
    "artifact, so the prompt shows an empty place. Writers are the states that declare the artifact and " +
    "those that offer a tool bound to it. A state that declares what it reads is taken to expect an empty " +
    "value on its first visit. Route the run through a writer, or say in the prompt what an empty value " +
    "means.",
  bad: `
prompts:
  look: { id: look, name: Look, version: 1.0.0, system_template: Emit Known or Unknown. }
  fix: { id: fix, name: Fix, version: 1.0.0, system_template: "Propose {{artifacts.patch}}. Emit Proposed." }
  test: { id: test, name: Test, version: 1.0.0, system_template: "Try {{artifacts.patch}}." }
workflow:
  version: 2
  entry: look
  states:
    look: { prompt_task: look, on_event: { Known: test, Unknown: fix } }
    fix: { prompt_task: fix, on_event: { Proposed: test }, artifacts: { patch: { type: text/plain } } }
    test: { prompt_task: test, terminal: true }
`,
  good: `
prompts:
  look: { id: look, name: Look, version: 1.0.0, system_template: Emit Unknown. }
  fix: { id: fix, name: Fix, version: 1.0.0, system_template: "Propose {{artifacts.patch}}. Emit Proposed." }
  test: { id: test, name: Test, version: 1.0.0, system_template: "Try {{artifacts.patch}}." }
workflow:
  version: 2
  entry: look
  states:
    look: { prompt_task: look, on_event: { Unknown: fix } }
    fix: { prompt_task: fix, on_event: { Proposed: test }, artifacts: { patch: { type: text/plain } } }
    test: { prompt_task: test, terminal: true }
`,
  check: (context, report) => {
    const runs = new RunsWithoutWriters(context);
    for (const read of foreignReads(context)) {
      // An artifact nothing can write is PP504.
      if (runs.isAlwaysEmpty(read.artifact)) continue;
      const path = runs.pathTo(read);
      if (path === undefined) continue;
      const { state, artifact, use } = read;
      const writers = writerNames(context, artifact);
      const shown = writers.slice(0, 3).map((name) => `\`${name}\``);
      report({
        at: onKey("workflow", "states", state),
        message: `\`${state}\` may read \`${artifact}\` before it exists`,
        why: path.length === 1 ? `a run can begin in \`${state}\`` : `path: ${pathText(path)}`,
        help: `route through ${shown.join(" or ")}, or say what empty means`,
        related: [{ at: placeOfUse(context, use), message: `\`${artifact}\` is read here` }],
        data: { state, artifact, path: path.slice(0, PATH_MAX), visits: path.length, writers },
      });
    }
  },
};

/** Visits of a path kept with a finding, and parts of it shown once repetition is folded. */
const PATH_MAX = 100;
const PARTS_MAX = 12;

function pathText(path: readonly string[]): string {
  const parts = foldPath(path.slice(0, PATH_MAX)).split(" → ");
  if (path.length <= PATH_MAX && parts.length <= PARTS_MAX) return parts.join(" → ");
  const [last = ""] = path.slice(-1);
  return [...parts.slice(0, PARTS_MAX - 2), "…", last].join(" → ");
}

function writerNames(context: CheckContext, artifact: string): readonly string[] {
  const writers = artifactFlow(context).writers.get(artifact) ?? new Set();
  return [...writers].map((index) => (context.flow.states[index] as FlowState).name);
}

/** One question is asked per set of writers and entry point. These bound the work of a whole pack. */
const QUESTIONS_MAX = 200;
const QUESTION_LIMIT = 100_000;
/**
 * Configurations over all questions. Each holds the counters of its guards, so many guards count for more.
 */
const WORK_MAX = 100_000;
const GUARDS_PER_WORK = 500;

/**
 * Runs that end where they would enter a writer. Past the bounds it stays silent: not found is not proved.
 */
class RunsWithoutWriters {
  readonly #context: CheckContext;
  readonly #answers = new Map<string, Answer[]>();
  readonly #alwaysEmpty = new Map<string, boolean>();
  readonly #weight: number;
  #questions = 0;
  #work = 0;

  constructor(context: CheckContext) {
    this.#context = context;
    this.#weight = 1 + context.flow.states.filter(isGuarded).length / GUARDS_PER_WORK;
  }

  isAlwaysEmpty(artifact: string): boolean {
    const before = this.#alwaysEmpty.get(artifact);
    if (before !== undefined) return before;
    const isEmpty = unreachableWriters(this.#context, artifact) !== undefined;
    this.#alwaysEmpty.set(artifact, isEmpty);
    return isEmpty;
  }

  /** The shortest run to the reading state, by names; undefined when every run passes a writer first. */
  pathTo({ index, artifact }: ForeignRead): readonly string[] | undefined {
    const writers = artifactFlow(this.#context).writers.get(artifact) ?? new Set();
    if (writers.has(index)) return undefined;
    for (const { stateOf, parentOf, firstOf } of this.#answersFor(writers)) {
      const names: string[] = [];
      for (let at = firstOf.get(index) ?? NONE; at !== NONE; at = parentOf[at] ?? NONE) {
        names.push((this.#context.flow.states[stateOf[at] as number] as FlowState).name);
      }
      if (names.length > 0) return names.reverse();
    }
    return undefined;
  }

  #answersFor(writers: ReadonlySet<number>): readonly Answer[] {
    const key = [...writers].sort((a, b) => a - b).join();
    const before = this.#answers.get(key);
    if (before !== undefined) return before;
    const answers: Answer[] = [];
    this.#answers.set(key, answers);
    for (const { start } of this.#context.analyses) {
      if (this.#questions >= QUESTIONS_MAX || this.#work >= WORK_MAX) break;
      const exploration = explore(this.#context.flow, start, { limit: QUESTION_LIMIT, closed: writers });
      this.#questions++;
      this.#work += exploration.count * this.#weight;
      // The exploration itself is not kept: its counters may take many megabytes.
      const { stateOf, parentOf } = exploration;
      answers.push({ stateOf, parentOf, firstOf: firstConfigurations(exploration) });
    }
    return answers;
  }
}

interface Answer {
  readonly stateOf: Int32Array;
  readonly parentOf: Int32Array;
  /** The configuration in which a run first enters each state. */
  readonly firstOf: ReadonlyMap<number, number>;
}

function firstConfigurations({ stateOf }: Exploration): ReadonlyMap<number, number> {
  const first = new Map<number, number>();
  for (const [configuration, state] of stateOf.entries())
    if (!first.has(state)) first.set(state, configuration);
  return first;
}
