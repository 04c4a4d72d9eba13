// One generated workflow put to the oracle and to the product: every way in which the two differ, in words.

import { type Flow, type FlowState, flowOf, resolveEntry } from "../../src/core/flow.ts";
import type { Program } from "../../src/core/program.ts";
import { type Analysis, analyse } from "../../src/pack/flow/analysis.ts";
import { type Bound, boundOf } from "../../src/pack/flow/bound.ts";
import { certificateOf } from "../../src/pack/flow/certificate.ts";
import { explore } from "../../src/pack/flow/explore.ts";
import type { Lasso } from "../../src/pack/flow/lasso.ts";
import { setTest } from "../../src/pack/flow/set-test.ts";
import { rankOf } from "../../src/pack/flow/static-graph.ts";
import { refutation } from "../../src/pack/flow/verify-certificate.ts";
import { type Most, type Truth, truthOf } from "./oracle.ts";
import { programOf, type SmallPack, type SmallState } from "./small-pack.ts";

export const properties = [
  "verdict",
  "numbers",
  "reachable",
  "ends",
  "guards",
  "test A",
  "test C",
  "lassos",
  "longest run",
  "closed",
  "upper bounds",
  "certificates",
] as const;
export type Property = (typeof properties)[number];

export interface Examined {
  readonly truth: Truth;
  readonly bound: Bound;
  readonly wrong: readonly (readonly [Property, string])[];
}

/** Everything about one entry point of a pack. */
interface Subject {
  readonly pack: SmallPack;
  readonly program: Program;
  readonly flow: Flow;
  readonly start: number;
  readonly truth: Truth;
  readonly analysis: Analysis;
  readonly bound: Bound;
}

export interface Question {
  readonly entry: string;
  /** A state to explore without. */
  readonly closed: string;
  /** Configurations after which an exploration is cut short. */
  readonly limit: number;
  /** Adds a state no run enters, with so high a limit that configurations are looked up by hash. */
  readonly crowded: boolean;
}

export function examine(pack: SmallPack, { entry, closed, limit, crowded }: Question): Examined {
  const program = programOf(crowded ? { ...pack, states: [...pack.states, unreached] } : pack);
  const flow = flowOf(program);
  const start = flow.states.findIndex((state) => state.name === entry);
  const analysis = analyse(flow, start);
  const bound = boundOf(program, analysis, flow);
  const subject = { pack, program, flow, start, truth: truthOf(pack, entry), analysis, bound };
  const wrong: (readonly [Property, string])[] = [];
  const check = (property: Property, found: readonly string[]) => {
    for (const what of found) wrong.push([property, what]);
  };
  check("verdict", verdict(subject));
  check("numbers", wrongNumbers(bound, subject.truth));
  check("reachable", differ("reachable", names(flow, analysis.reachable), subject.truth.reachable));
  check("ends", differ("can end", names(flow, analysis.canEnd), subject.truth.canEnd));
  check("guards", guards(subject));
  check("test A", rankOf(flow) !== undefined && subject.truth.endless ? ["a rank for an endless pack"] : []);
  check("test C", testC(subject));
  check("lassos", lassos(subject));
  check("longest run", longestRun(subject));
  check("closed", withoutOneState(subject, entry, closed));
  check("upper bounds", upperBounds(subject, limit));
  check("certificates", certificates(subject, bound));
  return { truth: subject.truth, bound, wrong };
}

const unreached: SmallState = {
  name: "unreached",
  prompt: 0,
  orchestration: "internal",
  terminal: true,
  events: [],
  max: 2 ** 40,
  fallback: null,
};

function verdict({ truth, bound, pack }: Subject): readonly string[] {
  const budget = pack.visitsMax !== null ? "budget" : pack.wallTimeSec !== null ? "time" : "unbounded";
  const expected = truth.endless ? budget : "guards";
  const found: string[] = [];
  if (bound.verdict !== expected) found.push(`verdict ${bound.verdict}, not ${expected}`);
  if (!bound.exact) found.push("not exact");
  if (bound.wallTimeSec !== pack.wallTimeSec) found.push(`wall time ${bound.wallTimeSec}`);
  if (bound.configurations > truth.configurations) found.push(`${bound.configurations} configurations`);
  return found;
}

/** Also for packs that were read from text. */
export function wrongNumbers(bound: Bound, { most, reachable }: Truth): readonly string[] {
  const found: string[] = [];
  const compare = (what: string, ours: number | null | undefined, theirs: number) => {
    if (ours !== (Number.isFinite(theirs) ? theirs : null)) found.push(`${what} ${ours}, not ${theirs}`);
  };
  compare("visits", bound.visits, most.visits);
  compare("model calls", bound.modelCalls, most.modelCalls);
  compare("tool calls", bound.toolCalls, most.toolCalls);
  for (const name of reachable)
    compare(`visits of ${name}`, ofState(bound, name), most.perState.get(name) as number);
  return [...found, ...differ("states", new Set(Object.keys(bound.perState)), reachable)];
}

const ofState = ({ perState }: Bound, name: string) =>
  Object.hasOwn(perState, name) ? perState[name] : undefined;

function names(flow: Flow, states: Iterable<number>): ReadonlySet<string> {
  return new Set([...states].map((state) => (flow.states[state] as FlowState).name));
}

function differ(what: string, ours: ReadonlySet<string>, theirs: ReadonlySet<string>): readonly string[] {
  if (ours.size === theirs.size && [...ours].every((name) => theirs.has(name))) return [];
  return [`${what} ${[...ours].join(" ")}, not ${[...theirs].join(" ")}`];
}

function guards({ flow, pack, truth, analysis }: Subject): readonly string[] {
  const found: string[] = [];
  const { firstFullAttempt } = analysis.graph.exploration;
  const acting = new Set<string>();
  for (const [index, state] of flow.states.entries()) {
    const ours = firstFullAttempt[index] as number;
    const theirs = truth.firstFullAttempt.get(state.name) ?? Infinity;
    if (ours !== theirs) found.push(`full ${state.name} after ${ours}, not ${theirs}`);
    // A fallback that names no state is still one the author wrote.
    const diverts = pack.states.find(({ name }) => name === state.name)?.fallback !== null;
    const budget = pack.visitsMax ?? Infinity;
    if (ours !== Infinity && (diverts ? ours < budget : ours <= budget)) acting.add(state.name);
  }
  return [...found, ...differ("acting guards", acting, truth.actsWithinBudget)];
}

function testC({ flow, start, truth }: Subject): readonly string[] {
  const { kind } = setTest(flow, start);
  if (kind === "unknown") return ["a small pack is too large"];
  return truth.endless && kind === "bounded" ? ["missed an endless run"] : [];
}

function lassos({ flow, start, truth, analysis }: Subject): readonly string[] {
  const found = analysis.lassos
    .filter((lasso) => !replays(flow, start, lasso))
    .map(() => "a lasso does not replay");
  if (analysis.lassos.length > 0 !== truth.endless) found.push(`${analysis.lassos.length} lassos`);
  if (analysis.lassos.some((lasso) => lasso.plain) !== truth.endlessPlainly)
    found.push("plain cycles differ");
  return found;
}

/**
 * Follows the events of a lasso with the engine's rule: one lap must end where it began, counters included.
 */
function replays(flow: Flow, start: number, { prefix, cycle, plain, exhausted }: Lasso): boolean {
  const visits = flow.states.map((_, index): number => (index === start ? 1 : 0));
  let current = start;
  const follow = (legs: Lasso["cycle"]): boolean =>
    legs.every((leg) => {
      const event = (flow.states[current] as FlowState).events.find(({ name }) => name === leg.event);
      if (event === undefined) return false;
      current = resolveEntry(flow, event.target, visits);
      visits[current] = (visits[current] ?? 0) + 1;
      return current === leg.state && leg.redirected === (event.target !== current);
    });
  const counted = () => visits.filter((_, index) => flow.states[index]?.visitsMax !== Infinity).join(" ");
  if (prefix[0]?.state !== start || !follow(prefix.slice(1))) return false;
  const before = { state: current, counts: counted() };
  const isFull = (state: number) => (visits[state] as number) >= (flow.states[state] as FlowState).visitsMax;
  if (!exhausted.every(isFull) || cycle.length === 0 || !follow(cycle)) return false;
  return (
    current === before.state && counted() === before.counts && plain === cycle.every((leg) => !leg.redirected)
  );
}

function longestRun({ flow, start, truth, bound }: Subject): readonly string[] {
  const run = bound.longestRun;
  if (truth.endless) return run.length === 0 ? [] : ["a longest run of an endless pack"];
  if (run.length !== truth.withoutBudget.visits) return [`longest run has ${run.length} visits`];
  const visits = flow.states.map((_, index): number => (index === start ? 1 : 0));
  let current = start;
  if (flow.states[start]?.name !== run[0]) return ["longest run begins elsewhere"];
  for (const name of run.slice(1)) {
    const reached = (flow.states[current] as FlowState).events.map(({ target }) =>
      resolveEntry(flow, target, visits),
    );
    const next = reached.find((state) => flow.states[state]?.name === name);
    if (next === undefined) return [`longest run cannot enter ${name}`];
    current = next;
    visits[current] = (visits[current] as number) + 1;
  }
  return [];
}

function withoutOneState({ flow, start, pack }: Subject, entry: string, closed: string): readonly string[] {
  const index = flow.states.findIndex((state) => state.name === closed);
  const { stateOf } = explore(flow, start, { closed: new Set([index]) });
  return differ(`without ${closed}`, names(flow, stateOf), truthOf(pack, entry, new Set([closed])).reachable);
}

/** An exploration cut short: what is said then may be less, but never wrong. */
function upperBounds(subject: Subject, limit: number): readonly string[] {
  const { program, flow, start, truth } = subject;
  const analysis = analyse(flow, start, limit);
  const bound = boundOf(program, analysis, flow);
  const found = [...tooLow(bound, truth.most), ...certificates(subject, bound)];
  if (bound.verdict === "guards" && truth.endless) found.push("called bounded");
  if (bound.verdict === "unbounded" && !truth.endless) found.push("called unbounded");
  if (bound.exact !== analysis.exact) found.push("exactness differs");
  for (const name of truth.reachable)
    if (ofState(bound, name) === undefined) found.push(`${name} unreachable`);
  const ends = names(flow, analysis.canEnd);
  for (const name of truth.canEnd) if (!ends.has(name)) found.push(`${name} cannot end`);
  if (analysis.lassos.some((lasso) => !replays(flow, start, lasso))) found.push("a lasso does not replay");
  return found.map((what) => `limit ${limit}: ${what}`);
}

/** Numbers of a bound that some run exceeds. */
export function tooLow(bound: Bound, most: Most): string[] {
  const found: string[] = [];
  if ((bound.visits ?? Infinity) < most.visits) found.push(`visits ${bound.visits} < ${most.visits}`);
  if ((bound.modelCalls ?? Infinity) < most.modelCalls)
    found.push(`model ${bound.modelCalls} < ${most.modelCalls}`);
  if ((bound.toolCalls ?? Infinity) < most.toolCalls)
    found.push(`tools ${bound.toolCalls} < ${most.toolCalls}`);
  for (const [name, visits] of most.perState) {
    if ((ofState(bound, name) ?? Infinity) < visits)
      found.push(`${name} ${ofState(bound, name)} < ${visits}`);
  }
  return found;
}

function certificates({ program }: Subject, bound: Bound): readonly string[] {
  const pack = { program, digest: "sha256:0", bounds: [bound] };
  const why = refutation(certificateOf(pack, bound), pack);
  return why === undefined ? [] : [`certificate refused: ${why}`];
}
