// The termination certificate: the worst case of every run from one entry point, and why it is the worst.

import { must } from "../../base/assert.ts";
import { type Flow, type FlowState, flowOf, isGuarded, NONE } from "../../core/flow.ts";
import type { BudgetSpec, Program } from "../../core/program.ts";
import { singlePromptLimits, type VisitLimits, visitLimits } from "../../core/visit-limits.ts";
import type { Analysis } from "./analysis.ts";
import type { Leg } from "./lasso.ts";
import { type Graph, longest, longestRun, longestWithin, TABLE_ENTRIES_MAX } from "./longest.ts";
import { type SetVerdict, setTest } from "./set-test.ts";
import { rankOf } from "./static-graph.ts";
import { visitsPerState } from "./visits-per-state.ts";

export type Verdict = "guards" | "budget" | "time" | "unbounded" | "undecided";

export type Proof =
  | { readonly kind: "rank"; readonly rank: Readonly<Record<string, number>> }
  | { readonly kind: "exploration" }
  | { readonly kind: "sets" };

export interface Bound {
  readonly entry: string;
  readonly verdict: Verdict;
  readonly exact: boolean;
  readonly configurations: number;
  /** Null where no number holds. */
  readonly visits: number | null;
  readonly modelCalls: number | null;
  readonly toolCalls: number | null;
  readonly wallTimeSec: number | null;
  readonly perState: Readonly<Record<string, number | null>>;
  readonly proof: Proof | null;
  readonly witness: { readonly prefix: readonly string[]; readonly cycle: readonly string[] } | null;
  /** States of one longest run, when runs are bounded without a budget and were all explored. */
  readonly longestRun: readonly string[];
}

/** The question of one entry point with everything the answer needs. */
interface Case {
  readonly flow: Flow;
  readonly analysis: Analysis;
  readonly budget: BudgetSpec;
  readonly limitsOf: readonly VisitLimits[];
}

export function boundOf(program: Program, analysis: Analysis, flow: Flow = flowOf(program)): Bound {
  const question = caseOf(program, analysis, flow);
  return analysis.exact ? exactBound(question) : upperBound(question);
}

/** The most tool calls of a run that `max_tool_calls` does not cut short; null where no number holds. */
export function uncappedToolCalls(program: Program, analysis: Analysis, flow: Flow): number | null {
  const question = caseOf(program, analysis, flow);
  const budget = { ...question.budget, toolCallsMax: null };
  if (!analysis.exact) return upperBound({ ...question, budget }).toolCalls;
  const measure = measurer(analysis.graph, budget.visitsMax, analysis.lassos.length > 0);
  return finite(measure((state) => limitsAt(question.limitsOf, state).toolCalls));
}

function caseOf(program: Program, analysis: Analysis, flow: Flow): Case {
  const { budget } = must(program.workflow, "a bound is asked of a workflow");
  return { flow, analysis, budget, limitsOf: flow.states.map((state) => visitLimits(program, state.name)) };
}

/**
 * S5: a pack without workflow is one terminal visit of one prompt; the largest of them where it is open
 * which.
 */
export function promptBound(program: Program): Bound {
  const limits = Object.values(program.prompts).map((prompt) =>
    singlePromptLimits(prompt, program.skills.length > 0),
  );
  return {
    entry: "",
    verdict: "guards",
    exact: true,
    configurations: 1,
    visits: 1,
    modelCalls: Math.max(0, ...limits.map((one) => one.modelCalls)),
    toolCalls: Math.max(0, ...limits.map((one) => one.toolCalls)),
    wallTimeSec: null,
    perState: {},
    proof: { kind: "rank", rank: {} },
    witness: null,
    longestRun: [],
  };
}

function exactBound(question: Case): Bound {
  const { flow, analysis, budget, limitsOf } = question;
  const { graph } = analysis;
  const endless = analysis.lassos.length > 0;
  const measure = measurer(graph, budget.visitsMax, endless);
  const visits = measure(() => 1);
  const perState = visitsPerState({ graph, cut: measure.cut, all: visits });
  const calls = (kind: keyof VisitLimits) =>
    Math.min(
      measure((state) => limitsAt(limitsOf, state)[kind]),
      spent(perState.visits, limitsOf, kind),
    );
  const rank = endless ? undefined : rankOf(flow);
  return {
    entry: stateName(flow, analysis.start),
    verdict: !endless ? "guards" : verdictOfBudget(budget),
    exact: measure.exact && perState.exact,
    configurations: graph.exploration.count,
    visits: finite(visits),
    modelCalls: capped(calls("modelCalls"), budget.modelCallsMax),
    toolCalls: capped(calls("toolCalls"), budget.toolCallsMax),
    wallTimeSec: budget.wallTimeSec,
    perState: namedVisits(question, perState.visits),
    proof: endless
      ? null
      : rank === undefined
        ? { kind: "exploration" }
        : { kind: "rank", rank: named(flow, rank) },
    witness: endless ? witnessOf(question) : null,
    longestRun: endless
      ? []
      : longestRun(graph).map((node) => stateName(flow, graph.exploration.stateOf[node] as number)),
  };
}

interface Measurer {
  (weightOf: (state: number) => number): number;
  readonly exact: boolean;
  /** The visit budget, when it cuts runs short. */
  readonly cut: number | null;
}

/** Longest runs under the visit budget, when one cuts them short; else the longest of all. */
function measurer(graph: Graph, visitsMax: number | null, endless: boolean): Measurer {
  const all = (weightOf: (state: number) => number) => longest(graph, weightOf);
  if (visitsMax === null || (!endless && all(() => 1) <= visitsMax))
    return Object.assign(all, { exact: true, cut: null });
  if (graph.exploration.count * visitsMax <= TABLE_ENTRIES_MAX) {
    const within = (weightOf: (state: number) => number) => longestWithin(graph, visitsMax, weightOf);
    return Object.assign(within, { exact: true, cut: visitsMax });
  }
  const states = new Set(graph.exploration.stateOf);
  const atMost = (weightOf: (state: number) => number) => {
    const heaviest = Math.max(0, ...[...states].map(weightOf));
    return Math.min(all(weightOf), heaviest * visitsMax);
  };
  return Object.assign(atMost, { exact: false, cut: visitsMax });
}

function verdictOfBudget(budget: BudgetSpec): Verdict {
  if (budget.visitsMax !== null) return "budget";
  return budget.wallTimeSec !== null ? "time" : "unbounded";
}

function namedVisits(
  { flow, analysis }: Case,
  visits: Float64Array,
): Readonly<Record<string, number | null>> {
  const entries = flow.states.flatMap(({ name }, index): [string, number | null][] =>
    analysis.reachable.has(index) ? [[name, finite(visits[index] as number)]] : [],
  );
  return Object.fromEntries(entries);
}

/** What so many visits of each state can spend: never less than any single run. */
function spent(visits: Float64Array, limitsOf: readonly VisitLimits[], kind: keyof VisitLimits): number {
  return visits.reduce((sum, count, state) => {
    const each = limitsAt(limitsOf, state)[kind];
    return each === 0 ? sum : sum + count * each;
  }, 0);
}

/** Past the limit of exploration: bounded or not by tests A and C, with numbers that are never too small. */
function upperBound(question: Case): Bound {
  const { flow, analysis, budget, limitsOf } = question;
  const rank = rankOf(flow);
  const sets = rank === undefined && analysis.lassos.length === 0 ? setTest(flow, analysis.start) : undefined;
  const bounded = rank !== undefined || sets?.kind === "bounded";
  const reachable = [...analysis.reachable];
  const guards = reachable.filter((state) => isGuarded(flow.states[state] as FlowState));
  const guardSum = guards.reduce((sum, state) => sum + (flow.states[state] as FlowState).visitsMax, 0);
  // Between two entries of guarded states a run stays among unguarded ones and repeats none of them.
  const open = reachable.length - guards.length;
  const segment = rank === undefined ? open : Math.min(open, rank.reduce((a, b) => Math.max(a, b), 0) + 1);
  const byGuards = bounded ? guardSum + (guardSum + 1) * segment : Infinity;
  const visits = Math.min(byGuards, budget.visitsMax ?? Infinity);
  const perState = new Float64Array(flow.states.length);
  for (const state of reachable)
    perState[state] = Math.min((flow.states[state] as FlowState).visitsMax, visits);
  const most = (kind: keyof VisitLimits) => {
    const heaviest = Math.max(0, ...reachable.map((state) => limitsAt(limitsOf, state)[kind]));
    return Math.min(heaviest === 0 ? 0 : visits * heaviest, spent(perState, limitsOf, kind));
  };
  const endless = analysis.lassos.length > 0;
  const undecided = !endless && budget.visitsMax === null && budget.wallTimeSec === null;
  return {
    entry: stateName(flow, analysis.start),
    verdict: bounded ? "guards" : undecided ? "undecided" : verdictOfBudget(budget),
    exact: false,
    configurations: analysis.graph.exploration.count,
    visits: finite(visits),
    modelCalls: capped(most("modelCalls"), budget.modelCallsMax),
    toolCalls: capped(most("toolCalls"), budget.toolCallsMax),
    wallTimeSec: budget.wallTimeSec,
    perState: namedVisits(question, perState),
    proof: rank !== undefined ? { kind: "rank", rank: named(flow, rank) } : bounded ? { kind: "sets" } : null,
    witness: endless ? witnessOf(question) : suspicion(flow, sets),
    longestRun: [],
  };
}

function suspicion(flow: Flow, sets: SetVerdict | undefined): Bound["witness"] {
  if (sets?.kind !== "suspect") return null;
  return { prefix: [], cycle: sets.cycle.map((state) => stateName(flow, state)) };
}

function witnessOf({ flow, analysis }: Case): Bound["witness"] {
  const lasso = must(analysis.lassos[0], "an endless run has a lasso");
  const names = (legs: readonly Leg[]) => legs.map((leg) => stateName(flow, leg.state));
  return { prefix: names(lasso.prefix), cycle: names(lasso.cycle) };
}

function limitsAt(limitsOf: readonly VisitLimits[], state: number): VisitLimits {
  return must(limitsOf[state], "every state has limits");
}

function stateName(flow: Flow, state: number): string {
  return state === NONE ? "" : (flow.states[state] as FlowState).name;
}

/** Ranks of unguarded states: the others are bounded by their guard. */
function named(flow: Flow, rank: readonly number[]): Readonly<Record<string, number>> {
  const entries = flow.states.flatMap((state, i): [string, number][] =>
    isGuarded(state) ? [] : [[state.name, rank[i] as number]],
  );
  return Object.fromEntries(entries);
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
const capped = (value: number, cap: number | null): number | null => finite(Math.min(value, cap ?? Infinity));
