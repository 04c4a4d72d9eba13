// The bound against brute force, over generated workflows. `BOUND_RUNS` raises their number.

import { beforeAll, describe, expect, test } from "vitest";
import { flowOf } from "../../src/core/flow.ts";
import { checkText } from "../../src/pack/check-text.ts";
import { analyse } from "../../src/pack/flow/analysis.ts";
import { boundOf } from "../../src/pack/flow/bound.ts";
import { examine, type Property, properties, tooLow, wrongNumbers } from "./disagreements.ts";
import { truthOf } from "./oracle.ts";
import { entryPointsOf, programOf, randomFrom, type SmallPack, smallPack, textOf } from "./small-pack.ts";

const RUNS = Number(process.env["BOUND_RUNS"] ?? 20_000);
const TEXTS = 400;

const claims: Readonly<Record<Property, string>> = {
  verdict: "a pack is called bounded exactly when no run is endless",
  numbers: "visits, model calls, tool calls and visits of each state are the most of any run",
  reachable: "the reachable states are those some run enters",
  ends: "the states with a way to the end are those from which some run completes",
  guards: "a guard is first met full after the fewest visits possible, and acts within the budget or not",
  "test A": "ranks are never given to a pack with an endless run",
  "test C": "sets of exhausted guards never miss an endless run",
  lassos: "every endless run shown replays to the same configuration, plain ones without a fired guard",
  "longest run": "the longest run shown replays and is as long as the bound says",
  closed: "the states reached without entering a given one are found",
  "upper bounds": "a bound from an exploration cut short is never below the truth",
  certificates: "every certificate passes its checker",
};

interface Tally {
  readonly wrongBy: Map<Property, string[]>;
  readonly kinds: Map<string, number>;
}

const tally: Tally = { wrongBy: new Map(), kinds: new Map() };

beforeAll(
  () => {
    for (let seed = 0; seed < RUNS; seed++) examineSeed(seed);
  },
  60_000 + 10 * RUNS,
);

function examineSeed(seed: number): void {
  const pack = smallPack(randomFrom(seed));
  const closed = pack.states[seed % pack.states.length]?.name as string;
  for (const entry of entryPointsOf(pack)) {
    const { truth, bound, wrong } = examine(pack, {
      entry,
      closed,
      limit: 1 + (seed % 6),
      crowded: seed % 2 === 1,
    });
    for (const [property, what] of wrong) {
      const examples = tally.wrongBy.get(property) ?? [];
      if (examples.length < 3) examples.push(`seed ${seed} from ${entry}: ${what}\n${textOf(pack)}`);
      tally.wrongBy.set(property, examples);
    }
    const byRedirect = truth.endless && !truth.endlessPlainly;
    const cut = truth.most.visits < truth.withoutBudget.visits;
    for (const [kind, holds] of [
      [bound.verdict, true],
      [`proof ${bound.proof?.kind}`, true],
      ["endless by redirects alone", byRedirect],
      ["cut short by the budget", cut],
      ["long", !truth.endless && truth.withoutBudget.visits >= 10],
      ["guard out of reach of the budget", truth.actsWithinBudget.size < truth.firstFullAttempt.size],
      ["dead end", truth.canEnd.size > 0 && truth.canEnd.size < truth.reachable.size],
    ] as const) {
      if (holds) tally.kinds.set(kind, (tally.kinds.get(kind) ?? 0) + 1);
    }
  }
}

describe(`over ${RUNS} generated workflows`, () => {
  test.each(properties.map((property) => [claims[property], property] as const))("%s", (_, property) => {
    expect(tally.wrongBy.get(property) ?? []).toEqual([]);
  });

  test("every kind of workflow occurs often enough to mean something", () => {
    const rare = [...new Set([...expectedKinds, ...tally.kinds.keys()])].filter((kind) => {
      return (tally.kinds.get(kind) ?? 0) < RUNS / 100;
    });
    expect(rare).toEqual([]);
  });
});

const expectedKinds = [
  "guards",
  "budget",
  "time",
  "unbounded",
  "proof rank",
  "proof exploration",
  "endless by redirects alone",
  "cut short by the budget",
  "long",
  "guard out of reach of the budget",
  "dead end",
];

test("with a budget too large for tables the bound is not exact and never below shorter runs", () => {
  const wrong: string[] = [];
  let endless = 0;
  for (let seed = 0; seed < 2_000; seed++) {
    const pack = { ...smallPack(randomFrom(seed)), visitsMax: 100_000_000 };
    const bound = firstBound(pack);
    const truth = truthOf({ ...pack, visitsMax: 30 }, pack.entry);
    if (truth.endless) endless++;
    if (bound.exact === truth.endless) wrong.push(`seed ${seed}: exact ${bound.exact}`);
    if (bound.visits !== (truth.endless ? 100_000_000 : truth.withoutBudget.visits))
      wrong.push(`seed ${seed}: visits`);
    for (const what of tooLow(bound, truth.most)) wrong.push(`seed ${seed}: ${what}`);
  }
  expect(wrong).toEqual([]);
  expect(endless).toBeGreaterThan(200);
});

function firstBound(pack: SmallPack) {
  const program = programOf(pack);
  const flow = flowOf(program);
  return boundOf(program, analyse(flow, flow.entry), flow);
}

test("packs read from text get the same numbers", () => {
  const wrong: string[] = [];
  for (let seed = 0; seed < TEXTS; seed++) {
    const pack = smallPack(randomFrom(seed));
    const [checked] = checkText(textOf(pack), { file: "small.yaml" }).packs;
    const entries = checked?.bounds.map((bound) => bound.entry);
    if (JSON.stringify(entries) !== JSON.stringify(entryPointsOf(pack)))
      wrong.push(`seed ${seed}: ${entries}`);
    for (const bound of checked?.bounds ?? []) {
      const what = wrongNumbers(bound, truthOf(pack, bound.entry));
      if (what.length > 0)
        wrong.push(`seed ${seed} from ${bound.entry}: ${what.join("; ")}\n${textOf(pack)}`);
    }
  }
  expect(wrong).toEqual([]);
});
