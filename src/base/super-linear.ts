// Does a regular expression backtrack more than in proportion to the text? Judged on its position automaton:
// exponential when a text can go round one loop in two ways, polynomial when two loops in a row can share a
// text and what follows may fail. Loops kept apart by a fixed character are not reported: there the cost
// stays small and the usual patterns for addresses would all be blamed.

import { components } from "./components.ts";
import { type PositionAutomaton, positionAutomaton } from "./position-automaton.ts";
import { parsePattern } from "./regex-syntax.ts";

export type Growth = "exponential" | "polynomial";

/** A loop of ten rounds over something ambiguous already takes as long as an endless one. */
const LOOP_FROM = 10;
/** Steps of a search; past it the pattern gets the benefit of the doubt. */
const WORK_MAX = 30_000;

export function isSuperLinear(pattern: string): boolean {
  return growthOf(pattern) !== undefined;
}

/** How matching time outgrows the length of the text; undefined for ordinary and unreadable patterns. */
export function growthOf(pattern: string): Growth | undefined {
  const parsed = parsePattern(pattern);
  if (parsed === undefined) return undefined;
  const parts = [parsed.main, ...parsed.asides];
  const within = (loopFrom: number, test: (graph: Cycles) => boolean) =>
    parts.some((part) => {
      const automaton = positionAutomaton(part, loopFrom);
      return automaton !== undefined && test(cyclesOf(automaton));
    });
  if (within(LOOP_FROM, repeatsInTwoWays)) return "exponential";
  return within(Infinity, loopsShareText) ? "polynomial" : undefined;
}

/** The steps that lie on cycles or lead from one cycle straight into another. */
interface Cycles {
  readonly automaton: PositionAutomaton;
  /** By position: the number of its cycle's component, or -1 outside every cycle. */
  readonly of: readonly number[];
  /** By position: next positions that are on a cycle too. */
  readonly next: readonly (readonly number[])[];
  /** By position: next positions of the same component. */
  readonly inside: readonly (readonly number[])[];
}

function cyclesOf(automaton: PositionAutomaton): Cycles {
  const { chars, next } = automaton;
  const consumes = (position: number) => chars[position] !== 0n;
  const rows = next.map((row, from) => (consumes(from) ? [...row.keys()].filter(consumes) : []));
  const offsets = [0];
  const targets: number[] = [];
  for (const row of rows) {
    targets.push(...row);
    offsets.push(targets.length);
  }
  const found = components({ offsets, targets, count: rows.length });
  const cyclic = new Set<number>();
  for (const [from, row] of rows.entries()) {
    for (const to of row) if (found.of[from] === found.of[to]) cyclic.add(found.of[from] as number);
  }
  const of = rows.map((_, position) => {
    const component = found.of[position] as number;
    return cyclic.has(component) ? component : -1;
  });
  const onCycles = rows.map((row, from) => (of[from] === -1 ? [] : row.filter((to) => of[to] !== -1)));
  return {
    automaton,
    of,
    next: onCycles,
    inside: onCycles.map((row, from) => row.filter((to) => of[to] === of[from])),
  };
}

/**
 * Two matchers start at the same position of a cycle, read the same text, part and meet again. Then every
 * round of the cycle doubles the number of ways, all of which are tried before the match fails.
 */
function repeatsInTwoWays({ automaton, of, inside }: Cycles): boolean {
  const { chars } = automaton;
  const count = inside.length;
  const seen = new Set<number>();
  let work = 0;
  // True when both arrive at one position: they are together again.
  const step = (a: number, b: number): boolean => {
    for (const left of inside[a] as readonly number[]) {
      for (const right of inside[b] as readonly number[]) {
        work++;
        if (((chars[left] as bigint) & (chars[right] as bigint)) === 0n) continue;
        if (left !== right) seen.add(Math.min(left, right) * count + Math.max(left, right));
        else if (a !== b) return true;
      }
    }
    return false;
  };
  for (let position = 0; position < count; position++) {
    if (work > WORK_MAX) return false;
    const row = automaton.next[position] as ReadonlyMap<number, number>;
    for (const [to, ways] of row) if (ways > 1 && of[to] === of[position] && of[to] !== -1) return true;
    step(position, position);
  }
  // A set gives members added while it is walked, so this visits every pair once.
  for (const pair of seen) {
    if (work > WORK_MAX) return false;
    if (step(Math.floor(pair / count), pair % count)) return true;
  }
  return false;
}

/** Some text goes round loop `p`, from `p` into loop `q`, and round `q`; behind `q` the match may fail. */
function loopsShareText(cycles: Cycles): boolean {
  const { automaton, of, next } = cycles;
  let work = 0;
  for (const [p, row] of next.entries()) {
    if (!row.some((to) => of[to] !== of[p])) continue;
    for (const q of following(cycles, p)) {
      if (automaton.accepting.has(q)) continue;
      const round = sharedRound(cycles, p, q);
      if (round.found) return true;
      work += round.work;
      if (work > WORK_MAX) return false;
    }
  }
  return false;
}

/** Positions of other cycles reached from `p` over positions of cycles alone, the nearest first. */
function following({ of, next }: Cycles, p: number): readonly number[] {
  const seen = new Set([p]);
  for (const position of seen) for (const to of next[position] as readonly number[]) seen.add(to);
  return [...seen].filter((position) => of[position] !== of[p]);
}

/** Enough for a round of a few characters; no pair of loops may use up the time of the others. */
const ROUND_WORK_MAX = 2_000;

/** Three matchers on one text: round `p`, from `p` to `q`, round `q`. */
function sharedRound(
  { automaton, next, inside }: Cycles,
  p: number,
  q: number,
): { found: boolean; work: number } {
  const { chars } = automaton;
  const count = next.length;
  const seen = new Set([(p * count + p) * count + q]);
  let work = 1;
  for (const key of seen) {
    if (work > ROUND_WORK_MAX) break;
    const [a, b, c] = [Math.floor(key / count / count), Math.floor(key / count) % count, key % count];
    for (const x of inside[a] as readonly number[]) {
      for (const z of inside[c] as readonly number[]) {
        work++;
        const shared = (chars[x] as bigint) & (chars[z] as bigint);
        if (shared === 0n) continue;
        for (const y of next[b] as readonly number[]) {
          work++;
          if ((shared & (chars[y] as bigint)) === 0n) continue;
          if (x === p && y === q && z === q) return { found: true, work };
          seen.add((x * count + y) * count + z);
        }
      }
    }
  }
  return { found: false, work };
}
