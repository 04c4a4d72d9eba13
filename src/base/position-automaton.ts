// The position automaton of a regular expression: one state for each character set written in it, and for
// every step between two of them the number of ways a backtracking matcher can take it, where 2 stands for
// "several".

import type { CharSet, Pattern } from "./regex-syntax.ts";

export interface PositionAutomaton {
  /** By position: the characters it consumes as a bit set; 0 for an assertion, which consumes none. */
  readonly chars: readonly bigint[];
  /** By position: the positions that may come next, with the number of ways. */
  readonly next: readonly ReadonlyMap<number, number>[];
  /** Positions after which the whole pattern has matched. */
  readonly accepting: ReadonlySet<number>;
}

const POSITIONS_MAX = 400;
const STEPS_MAX = 10_000;
/** Copies made of a counted repetition: enough to tell `x{2}` from `x{3}` and `x{2,3}` from both. */
const COPIES_MAX = 4;

/**
 * Counted repetitions of up to `loopFrom` times or more are taken for loops, where their rounds can differ.
 * Undefined for an oversized pattern.
 */
export function positionAutomaton(pattern: Pattern, loopFrom: number): PositionAutomaton | undefined {
  const build = new Build(loopFrom);
  const whole = build.part(pattern);
  if (build.tooLarge) return undefined;
  return { chars: bitSets(build.sets), next: build.next, accepting: new Set(whole.last.keys()) };
}

/** Ways to match nothing, and where a match of this part may begin and end. */
interface Part {
  readonly empty: number;
  readonly first: ReadonlyMap<number, number>;
  readonly last: ReadonlyMap<number, number>;
}

const nothing: Part = { empty: 1, first: new Map(), last: new Map() };

class Build {
  readonly sets: CharSet[] = [];
  readonly next: Map<number, number>[] = [];
  tooLarge = false;
  readonly #loopFrom: number;
  #steps = 0;

  constructor(loopFrom: number) {
    this.#loopFrom = loopFrom;
  }

  part(pattern: Pattern): Part {
    if (this.tooLarge) return nothing;
    switch (pattern.kind) {
      case "set":
        return this.#position(pattern.set);
      case "assert":
        return this.#position([]);
      case "sequence":
        return pattern.parts.reduce<Part>((before, one) => this.#join(before, this.part(one)), nothing);
      case "choice":
        return pattern.options.map((option) => this.part(option)).reduce(either);
      case "repeat":
        return this.#repeat(pattern.body, pattern.min, pattern.max);
    }
  }

  #position(set: CharSet): Part {
    if (this.sets.length >= POSITIONS_MAX) {
      this.tooLarge = true;
      return nothing;
    }
    const ways = new Map([[this.sets.length, 1]]);
    this.sets.push(set);
    this.next.push(new Map());
    return { empty: 0, first: ways, last: ways };
  }

  #repeat(body: Pattern, min: number, max: number): Part {
    if (max === 0) return nothing;
    const loops = max === Infinity || (max >= this.#loopFrom && !isRigid(body));
    if (loops)
      return min === 0
        ? optional(this.#loop(body))
        : this.#join(this.#copies(body, min - 1), this.#loop(body));
    return this.#join(this.#copies(body, min), this.#optionalCopies(body, Math.min(max - min, 2)));
  }

  #copies(body: Pattern, count: number): Part {
    let whole = nothing;
    for (let i = 0; i < Math.min(count, COPIES_MAX); i++) whole = this.#join(whole, this.part(body));
    return whole;
  }

  /** Nested, `x(x(x)?)?`: side by side they would seem ambiguous. */
  #optionalCopies(body: Pattern, count: number): Part {
    let whole = nothing;
    for (let i = 0; i < count; i++) whole = optional(this.#join(this.part(body), whole));
    return whole;
  }

  #loop(body: Pattern): Part {
    const once = this.part(body);
    this.#connect(once.last, once.first);
    return once;
  }

  #join(before: Part, after: Part): Part {
    this.#connect(before.last, after.first);
    return {
      empty: several(before.empty * after.empty),
      first: before.empty === 0 ? before.first : summed(before.first, scaled(after.first, before.empty)),
      last: after.empty === 0 ? after.last : summed(after.last, scaled(before.last, after.empty)),
    };
  }

  #connect(from: ReadonlyMap<number, number>, to: ReadonlyMap<number, number>): void {
    this.#steps += from.size * to.size;
    if (this.#steps > STEPS_MAX) this.tooLarge = true;
    if (this.tooLarge) return;
    for (const [a, waysOut] of from) {
      const row = this.next[a] as Map<number, number>;
      for (const [b, waysIn] of to) row.set(b, several((row.get(b) ?? 0) + waysOut * waysIn));
    }
  }
}

/** Every match is alike: one length, one way. Ten rounds of it are no loop, just a longer text. */
function isRigid(pattern: Pattern): boolean {
  if (pattern.kind === "sequence") return pattern.parts.every(isRigid);
  if (pattern.kind === "repeat") return pattern.min === pattern.max && isRigid(pattern.body);
  return pattern.kind !== "choice";
}

const several = (ways: number): number => Math.min(ways, 2);

const optional = (part: Part): Part => ({ ...part, empty: 1 });

const either = (a: Part, b: Part): Part => ({
  empty: several(a.empty + b.empty),
  first: summed(a.first, b.first),
  last: summed(a.last, b.last),
});

function scaled(ways: ReadonlyMap<number, number>, by: number): ReadonlyMap<number, number> {
  return by === 1 ? ways : new Map([...ways].map(([position, count]) => [position, several(count * by)]));
}

function summed(a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
  if (a.size === 0) return b;
  if (b.size === 0) return a;
  const sum = new Map(a);
  for (const [position, count] of b) sum.set(position, several((sum.get(position) ?? 0) + count));
  return sum;
}

/** Cuts the code points at every end of a range: two sets overlap just when they share such a piece. */
function bitSets(sets: readonly CharSet[]): readonly bigint[] {
  const starts = new Set<number>();
  for (const set of sets) for (const [low, high] of set) starts.add(low).add(high + 1);
  const bitByStart = new Map([...starts].sort((a, b) => a - b).map((start, index) => [start, index]));
  const made = new Map<string, bigint>();
  return sets.map((set) => {
    const key = set.join(";");
    const known = made.get(key);
    if (known !== undefined) return known;
    let bits = 0n;
    for (const [low, high] of set) {
      const from = BigInt(bitByStart.get(low) as number);
      const to = BigInt(bitByStart.get(high + 1) as number);
      bits |= (1n << to) - (1n << from);
    }
    made.set(key, bits);
    return bits;
  });
}
