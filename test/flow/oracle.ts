// What every run of a small workflow can do, found by brute force and without any code of the product: all
// configurations with all counters, then runs layer by layer, one layer per visit. Slow and simple on
// purpose.

import type { SmallPack, SmallPrompt, SmallState } from "./small-pack.ts";

/** The most of each over all runs; `Infinity` where laps add to it. */
export interface Most {
  readonly visits: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly perState: ReadonlyMap<string, number>;
}

export interface Truth {
  readonly endless: boolean;
  /** Some cycle of events that all go where they say. */
  readonly endlessPlainly: boolean;
  readonly configurations: number;
  readonly withoutBudget: Most;
  /** Under `max_total_visits`, and with calls capped by the two other budgets. */
  readonly most: Most;
  readonly reachable: ReadonlySet<string>;
  readonly canEnd: ReadonlySet<string>;
  /** Guards that an attempt finds at their limit, with the fewest visits before such an attempt. */
  readonly firstFullAttempt: ReadonlyMap<string, number>;
  /** Guards that act in a run within `max_total_visits`: divert it, or end it themselves. */
  readonly actsWithinBudget: ReadonlySet<string>;
}

interface Configuration {
  readonly state: SmallState;
  readonly counts: readonly number[];
  /** Visits on the shortest run that gets here, this one included. */
  readonly depth: number;
  readonly next: { readonly to: number; readonly diverted: boolean }[];
}

export function truthOf(pack: SmallPack, start: string, closed: ReadonlySet<string> = new Set()): Truth {
  const { configurations, firstFullAttempt } = explore(pack, start, closed);
  const laps = configurations.map((_, index) => lapsThrough(configurations, index));
  const layers = walkLayers(pack, configurations);
  const withoutBudget = unlimited(pack, { configurations, laps, layers });
  const budget = pack.visitsMax;
  const within = budget === null ? withoutBudget : (layers.at(Math.min(budget, layers.length) - 1) as Most);
  const endless = laps.some((lap) => lap.any);
  if (endless !== layers.length > longestWithoutRepeat(pack))
    throw new Error("the oracle disagrees with itself");
  return {
    endless,
    endlessPlainly: laps.some((lap) => lap.plain),
    configurations: configurations.length,
    withoutBudget,
    most: {
      ...within,
      modelCalls: Math.min(within.modelCalls, pack.modelCallsMax ?? Infinity),
      toolCalls: Math.min(within.toolCalls, pack.toolCallsMax ?? Infinity),
    },
    reachable: new Set(configurations.map(({ state }) => state.name)),
    canEnd: endingStates(pack, configurations),
    firstFullAttempt,
    actsWithinBudget: acting(pack, firstFullAttempt),
  };
}

const isTerminal = (state: SmallState) => state.terminal || state.events.length === 0;

/** Entering: the first state of the redirect chain that has a visit left; undefined when the run ends. */
function enter(pack: SmallPack, target: string, counts: readonly number[], full: string[]) {
  const met = new Set<string>();
  for (let name = target; ; ) {
    if (met.has(name)) return undefined;
    met.add(name);
    const index = pack.states.findIndex((state) => state.name === name);
    if (index < 0) return undefined;
    const state = pack.states[index] as SmallState;
    if (state.max === null || (counts[index] as number) < state.max) return index;
    full.push(name);
    if (state.fallback === null) return undefined;
    name = state.fallback;
  }
}

function explore(pack: SmallPack, start: string, closed: ReadonlySet<string>) {
  const configurations: Configuration[] = [];
  const indexByKey = new Map<string, number>();
  const firstFullAttempt = new Map<string, number>();
  const visit = (at: number, before: readonly number[], depth: number): number => {
    const state = pack.states[at] as SmallState;
    const counts = before.map((count, i) => (i === at && state.max !== null ? count + 1 : count));
    const key = `${at} ${counts.join(" ")}`;
    const known = indexByKey.get(key);
    if (known !== undefined) return known;
    indexByKey.set(key, configurations.length);
    return configurations.push({ state, counts, depth, next: [] }) - 1;
  };
  const first = pack.states.findIndex((state) => state.name === start);
  if (!closed.has(start))
    visit(
      first,
      pack.states.map(() => 0),
      1,
    );
  for (let at = 0; at < configurations.length; at++) {
    const { state, counts, depth, next } = configurations[at] as Configuration;
    if (isTerminal(state)) continue;
    for (const [, target] of state.events) {
      const full: string[] = [];
      const entered = enter(pack, target, counts, full);
      for (const name of full)
        firstFullAttempt.set(name, Math.min(depth, firstFullAttempt.get(name) ?? depth));
      if (entered === undefined || closed.has((pack.states[entered] as SmallState).name)) continue;
      next.push({ to: visit(entered, counts, depth + 1), diverted: full.length > 0 });
    }
  }
  return { configurations, firstFullAttempt };
}

/** A run comes back to a configuration without a guarded entry, so only equal counters need be followed. */
function lapsThrough(
  configurations: readonly Configuration[],
  index: number,
): { any: boolean; plain: boolean } {
  const { state, counts } = configurations[index] as Configuration;
  if (state.max !== null) return { any: false, plain: false };
  const returns = (mayDivert: boolean): boolean => {
    const seen = new Set<number>();
    const open = [index];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const { to, diverted } of (configurations[at] as Configuration).next) {
        if (diverted && !mayDivert) continue;
        if (to === index) return true;
        if (seen.has(to) || (configurations[to] as Configuration).counts.some((n, i) => n !== counts[i]))
          continue;
        seen.add(to);
        open.push(to);
      }
    }
    return false;
  };
  return { any: returns(true), plain: returns(false) };
}

/**
 * A longer run stays among unguarded states between two entries of guarded ones for more visits than there
 * are unguarded states, so it meets one twice with the same counters.
 */
function longestWithoutRepeat(pack: SmallPack): number {
  const entries = pack.states.reduce((sum, state) => sum + (state.max ?? 0), 0);
  const unguarded = pack.states.filter((state) => state.max === null).length;
  return entries + (entries + 1) * unguarded;
}

/**
 * After k visits: the most collected by runs of up to k visits. Stops where runs stop, or where laps are
 * sure.
 */
function walkLayers(pack: SmallPack, configurations: readonly Configuration[]): readonly Most[] {
  const depthMax = Math.max(longestWithoutRepeat(pack) + 1, pack.visitsMax ?? 0);
  const gains = configurations.map(({ state }) => [
    modelCallsIn(pack, state),
    toolCallsIn(pack, state),
    ...pack.states.map((other) => (other === state ? 1 : 0)),
  ]);
  const best = [0, 0, ...pack.states.map(() => 0)];
  const layers: Most[] = [];
  let layer = new Map<number, readonly number[]>();
  if (configurations.length > 0) layer.set(0, gains[0] as readonly number[]);
  while (layer.size > 0 && layers.length < depthMax) {
    for (const sums of layer.values())
      for (const [i, sum] of sums.entries()) best[i] = Math.max(best[i] as number, sum);
    layers.push(mostOf(pack, layers.length + 1, best));
    const after = new Map<number, number[]>();
    for (const [at, sums] of layer) {
      for (const { to } of (configurations[at] as Configuration).next) {
        const gain = gains[to] as readonly number[];
        const known = after.get(to);
        if (known === undefined)
          after.set(
            to,
            sums.map((sum, i) => sum + (gain[i] as number)),
          );
        else
          for (const [i, sum] of sums.entries())
            known[i] = Math.max(known[i] as number, sum + (gain[i] as number));
      }
    }
    layer = after;
  }
  return layers.length > 0 ? layers : [mostOf(pack, 0, best)];
}

function mostOf(pack: SmallPack, visits: number, best: readonly number[]): Most {
  const [modelCalls = 0, toolCalls = 0, ...entries] = best;
  return {
    visits,
    modelCalls,
    toolCalls,
    perState: new Map(pack.states.map(({ name }, i) => [name, entries[i] as number])),
  };
}

interface Walked {
  readonly configurations: readonly Configuration[];
  readonly laps: readonly { any: boolean }[];
  readonly layers: readonly Most[];
}

/** Laps that collect something collect without end; all else is collected by a run that repeats nothing. */
function unlimited(pack: SmallPack, { configurations, laps, layers }: Walked): Most {
  const most = layers.at(-1) as Most;
  const recurring = configurations.filter((_, i) => laps[i]?.any).map(({ state }) => state);
  const adds = (callsIn: (pack: SmallPack, state: SmallState) => number) =>
    recurring.some((state) => callsIn(pack, state) > 0);
  const perState = new Map(most.perState);
  for (const { name } of recurring) perState.set(name, Infinity);
  return {
    visits: recurring.length > 0 ? Infinity : most.visits,
    modelCalls: adds(modelCallsIn) ? Infinity : most.modelCalls,
    toolCalls: adds(toolCallsIn) ? Infinity : most.toolCalls,
    perState,
  };
}

function endingStates(pack: SmallPack, configurations: readonly Configuration[]): ReadonlySet<string> {
  // A state with a target that does not exist may be meant to end: it is given the benefit of the doubt.
  const known = (name: string | null) => name === null || pack.states.some((state) => state.name === name);
  const inDoubt = (state: SmallState) =>
    !known(state.fallback) || state.events.some(([, target]) => !known(target));
  const ends = configurations.map(({ state }) => isTerminal(state) || inDoubt(state));
  for (let changed = true; changed; ) {
    changed = false;
    for (const [at, { next }] of configurations.entries()) {
      if (ends[at] || !next.some(({ to }) => ends[to])) continue;
      ends[at] = true;
      changed = true;
    }
  }
  return new Set(configurations.filter((_, i) => ends[i]).map(({ state }) => state.name));
}

/** Redirects come before the budget: a guard that diverts needs room for the visit it diverts to. */
function acting(pack: SmallPack, firstFullAttempt: ReadonlyMap<string, number>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [name, visits] of firstFullAttempt) {
    const diverts = pack.states.find((state) => state.name === name)?.fallback !== null;
    if (visits + (diverts ? 1 : 0) <= (pack.visitsMax ?? Infinity)) names.add(name);
  }
  return names;
}

const offered = (prompt: SmallPrompt) =>
  prompt.choice === "none" ? [] : prompt.tools.filter((tool) => !prompt.blocked.includes(tool));

function modelCallsIn(pack: SmallPack, state: SmallState): number {
  if (state.orchestration === "external") return 0;
  const prompt = pack.prompts[state.prompt] as SmallPrompt;
  const mayMove = !isTerminal(state);
  if (!mayMove && !pack.hasArtifact && offered(prompt).length === 0) return 1;
  return prompt.rounds + 1 + (mayMove && state.orchestration === "internal" ? pack.nudges : 0);
}

function toolCallsIn(pack: SmallPack, state: SmallState): number {
  if (state.orchestration === "external") return 0;
  const prompt = pack.prompts[state.prompt] as SmallPrompt;
  return offered(prompt).length > 0 ? prompt.calls : 0;
}
