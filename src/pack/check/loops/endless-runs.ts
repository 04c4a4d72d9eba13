// Endless runs as findings show them: merged over entry points, told from the first state in file order.

import { must } from "../../../base/assert.ts";
import type { Json } from "../../../base/json.ts";
import { type Flow, NONE } from "../../../core/flow.ts";
import { foldedParts } from "../../flow/fold-path.ts";
import type { Lasso, Leg } from "../../flow/lasso.ts";
import { triedGuard } from "../../flow/tried-guard.ts";
import { type CheckContext, onKey, type Place, type Reported } from "../rule.ts";
import { cycleText, listed } from "../wording.ts";

export interface EndlessRun {
  /** The key of the cycle's first state. */
  readonly at: Place;
  /** `a → b → a` in backquotes. */
  readonly cycle: string;
  /** The cycle is one state that repeats. */
  readonly isAlone: boolean;
  /** Guards that divert an event of the cycle, in file order. */
  readonly fullGuards: readonly string[];
  /** The events of the cycle that are diverted, with the states they lead to. */
  readonly diverted: readonly { readonly event: string; readonly state: string }[];
  /** `; each lap waits for an event at …`, or nothing. */
  readonly waiting: string;
  /** The run with repetition folded: `plan → (implement → test)×10 → review → ChangesNeeded ⟲ review`. */
  readonly path: string;
  /** A guard that was tried and ends the cycle. */
  readonly advice: Advice | undefined;
  /** One entry for each step of the path that differs from the ones before. */
  readonly legs: NonNullable<Reported["related"]>;
  readonly data: Readonly<Record<string, Json>>;
}

export interface Advice {
  readonly state: string;
  readonly visitsMax: number;
  readonly fallback: string | null;
}

// A pack full of cycles gets a finding for each, but the way there and a tried guard for the first ones only.
const WITNESSED_MAX = 50;
const ADVISED_MAX = 8;
const PARTS_SHOWN = 16;
const LEGS_SHOWN = 12;

export function endlessRuns(context: CheckContext, kind: "plain" | "redirected"): readonly EndlessRun[] {
  const { flow, analyses } = context;
  const starts = analyses.map((analysis) => analysis.start);
  const all = analyses.flatMap((analysis) => analysis.lassos);
  const adviceFor = (lasso: Lasso): Advice | undefined => {
    const others = all.filter((other) => !sharesGroup(lasso, other));
    const guard = triedGuard({ flow, starts, lasso, others });
    if (guard === undefined) return undefined;
    const { state, visitsMax, fallback } = guard;
    return {
      state: nameOf(flow, state),
      visitsMax,
      fallback: fallback === NONE ? null : nameOf(flow, fallback),
    };
  };
  return distinctLassos(context, kind).map((lasso, index) =>
    told(flow, lasso, {
      advice: index < ADVISED_MAX ? adviceFor(lasso) : undefined,
      prefix: index < WITNESSED_MAX ? lasso.prefix : [],
    }),
  );
}

/** One thing is reported once: cycles through states of an earlier one's group are part of that finding. */
function distinctLassos(context: CheckContext, kind: "plain" | "redirected"): readonly Lasso[] {
  const taken = new Set<number>();
  const found: Lasso[] = [];
  for (const { lassos } of context.analyses) {
    for (const lasso of lassos) {
      if (lasso.plain !== (kind === "plain") || restsOnDamage(context, lasso)) continue;
      if (lasso.cycle.some((leg) => taken.has(leg.state))) continue;
      for (const state of lasso.members) taken.add(state);
      found.push(lasso);
    }
  }
  return found.sort((a, b) => firstState(a) - firstState(b));
}

/** The same finding seen from another entry point. */
function sharesGroup(lasso: Lasso, other: Lasso): boolean {
  const members = new Set(lasso.members);
  return lasso.plain === other.plain && other.members.some((state) => members.has(state));
}

/** A guard that was refused or misspelt is not in force here, and that has been said. */
function restsOnDamage({ flow, damagedStates }: CheckContext, lasso: Lasso): boolean {
  if (damagedStates.size === 0) return false;
  return lasso.cycle.some((leg) =>
    [leg.state, ...leg.hops].some((one) => damagedStates.has(nameOf(flow, one))),
  );
}

const firstState = (lasso: Lasso): number => Math.min(...lasso.cycle.map((leg) => leg.state));

type Way = Pick<Lasso, "prefix" | "cycle">;

interface Shown {
  readonly advice: Advice | undefined;
  /** The way to the cycle; empty where it is not shown. */
  readonly prefix: readonly Leg[];
}

function told(flow: Flow, lasso: Lasso, { advice, prefix }: Shown): EndlessRun {
  const names = fromFirst(lasso).map((state) => nameOf(flow, state));
  const hops = [...new Set(lasso.cycle.flatMap((leg) => leg.hops))].sort((a, b) => a - b);
  const fullGuards = hops.map((state) => nameOf(flow, state));
  const waits = [...new Set(fromFirst(lasso))].filter((state) => flow.states[state]?.external);
  const waitsAt = waits.map((state) => nameOf(flow, state));
  const way = { prefix, cycle: lasso.cycle };
  const path = pathText(flow, way);
  return {
    at: onKey("workflow", "states", must(names[0], "a cycle has a state")),
    cycle: cycleText(names),
    isAlone: names.length === 1,
    fullGuards,
    diverted: distinct(
      lasso.cycle
        .filter((leg) => leg.redirected)
        .map((leg) => ({ event: leg.event, state: nameOf(flow, leg.state) })),
    ),
    waiting: waitsAt.length === 0 ? "" : `; each lap waits for an event at ${listed(waitsAt)}`,
    path,
    advice,
    legs: legsOf(flow, way),
    data: {
      cycle: names,
      path,
      full_guards: fullGuards,
      waits_at: waitsAt,
      guard: advice === undefined ? null : { ...advice },
      exact: true,
    },
  };
}

/** The states of the cycle, each once, beginning with the first in file order. */
function fromFirst(lasso: Lasso): readonly number[] {
  const states = lasso.cycle.map((leg) => leg.state);
  const at = states.indexOf(Math.min(...states));
  return [...states.slice(at), ...states.slice(0, at)];
}

function pathText(flow: Flow, { prefix, cycle }: Way): string {
  const begin = nameOf(flow, (cycle.at(-1) as Leg).state);
  const parts =
    prefix.length === 0 ? ["…", begin] : foldedParts(prefix.map((leg) => nameOf(flow, leg.state)));
  const left = parts.length - PARTS_SHOWN;
  const shown =
    left <= 0 ? parts : [...parts.slice(0, PARTS_SHOWN / 2), "…", ...parts.slice(-PARTS_SHOWN / 2)];
  const lap = cycle.map((leg) => nameOf(flow, leg.state));
  const laps = lap.length <= PARTS_SHOWN ? lap : [...lap.slice(0, PARTS_SHOWN), "…"];
  return `${shown.join(" → ")} → ${cycle[0]?.event ?? ""} ⟲ ${laps.join(" → ")}`;
}

/** Steps on the way and in the cycle, those that repeat an earlier one left out. */
function legsOf(flow: Flow, { prefix, cycle }: Way): NonNullable<Reported["related"]> {
  const seen = new Set<string>();
  const related: { at: Place; message: string }[] = [];
  for (const legs of [prefix, [must(cycle.at(-1), "a cycle has a step"), ...cycle]]) {
    let shown = 0;
    for (let i = 1; i < legs.length && shown < LEGS_SHOWN; i++) {
      const from = nameOf(flow, (legs[i - 1] as Leg).state);
      const leg = legs[i] as Leg;
      const message = `\`${from}\` sends \`${leg.event}\` to ${destination(flow, leg)}`;
      if (seen.has(message)) continue;
      seen.add(message);
      shown++;
      related.push({ at: onKey("workflow", "states", from, "on_event", leg.event), message });
    }
  }
  return related;
}

function destination(flow: Flow, { hops, state }: Leg): string {
  const passed = hops.map((hop) => `\`${nameOf(flow, hop)}\`, which is full and falls back to `);
  return `${passed.join("")}\`${nameOf(flow, state)}\``;
}

function distinct(
  events: readonly { event: string; state: string }[],
): readonly { event: string; state: string }[] {
  return events.filter(
    (one, i) => events.findIndex((other) => other.event === one.event && other.state === one.state) === i,
  );
}

const nameOf = (flow: Flow, state: number): string => flow.states[state]?.name ?? "";
