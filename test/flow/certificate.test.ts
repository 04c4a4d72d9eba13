import { describe, expect, test } from "vitest";
import { promptBound } from "../../src/pack/flow/bound.ts";
import { type Certificate, certificateOf } from "../../src/pack/flow/certificate.ts";
import { refutation } from "../../src/pack/flow/verify-certificate.ts";
import { bounded, packOf } from "./notation.ts";
import { programOf, type SmallPack } from "./small-pack.ts";

const digest = "sha256:0123";

function certified(pack: SmallPack, limit?: number) {
  const program = programOf(pack);
  const { bound } = bounded(pack, limit);
  return { certificate: certificateOf({ program, digest, bounds: [bound] }, bound), program, digest };
}

const guarded = packOf(
  "plan → work; work(2, check) → test; test → work, check; check(1, done) → work, done; done terminal",
  {
    prompts: [{ name: "p", tools: ["look"], blocked: [], choice: "auto", rounds: 2, calls: 3 }],
  },
);
const byCounts = packOf("a(2, end) → g; g(3, b) → a; b → g; end terminal");
const endless = packOf("draft → check; check(4, out) → out, draft; out → end, check; end terminal");

describe("the certificate", () => {
  test("of a bounded pack has a number for everything and ranks for its unguarded states", () => {
    expect(certified(guarded).certificate).toEqual({
      kind: "packloop.bound/1",
      pack: { id: "small", version: "1.0.0", digest },
      entry: "plan",
      verdict: "guards",
      exact: true,
      configurations: expect.any(Number),
      // plan, work, test, check, work, test, done: four calls a visit, three in done.
      visits: 7,
      model_calls: 6 * 4 + 3,
      tool_calls: 7 * 3,
      wall_time_sec: null,
      per_state: { plan: 1, work: 2, test: 2, check: 1, done: 1 },
      with_children: { visits: 7, model_calls: 27, tool_calls: 21, agents: {} },
      proof: { kind: "rank", rank: { plan: 1, test: 1, done: 0 } },
      witness: null,
    });
  });

  test("of an endless pack shows the run", () => {
    expect(certified(endless).certificate).toMatchObject({
      verdict: "unbounded",
      visits: null,
      proof: null,
      witness: {
        prefix: ["draft", "check", "out", "check", "out", "check", "out", "check", "out"],
        cycle: ["out"],
      },
    });
  });

  test("survives being written and read", () => {
    for (const pack of [guarded, byCounts, endless]) {
      const { certificate, program } = certified(pack);
      const read = JSON.parse(JSON.stringify(certificate)) as Certificate;
      expect(read).toEqual(certificate);
      expect(refutation(read, { program, digest })).toBeUndefined();
    }
  });

  test("of a pack that is past the limit holds, too", () => {
    for (const pack of [guarded, byCounts, endless, { ...endless, visitsMax: 20 }]) {
      const { certificate, program } = certified(pack, 3);
      expect(certificate.exact).toBe(false);
      expect(refutation(certificate, { program, digest })).toBeUndefined();
    }
  });
});

describe("a tampered certificate is refused", () => {
  const cases: readonly [
    what: string,
    pack: SmallPack,
    change: (good: Certificate) => Partial<Certificate>,
    why: string,
  ][] = [
    [
      "for another pack",
      guarded,
      (good) => ({ pack: { ...good.pack, digest: "sha256:9" } }),
      "it is for `sha256:9`",
    ],
    [
      "from a state that is not there",
      guarded,
      () => ({ entry: "nowhere" }),
      "its entry `nowhere` is not a state",
    ],
    ["without a proof", guarded, () => ({ proof: null }), "without a proof"],
    [
      "with a rank left out",
      guarded,
      () => ({ proof: { kind: "rank", rank: { plan: 1, done: 0 } } }),
      "`test` has no rank",
    ],
    [
      "with a rank that does not fall",
      guarded,
      () => ({ proof: { kind: "rank", rank: { plan: 1, test: 0, done: 0 } } }),
      "the rank does not fall from `test` to `done`",
    ],
    [
      "with a rank that is no number",
      guarded,
      () => ({ proof: { kind: "rank", rank: { plan: Infinity, test: 1, done: 0 } } }),
      "`plan` has no rank",
    ],
    [
      "with ranks for a cycle",
      endless,
      () => ({ verdict: "guards", visits: 9, proof: ranksOf(endless) }),
      "does not fall",
    ],
    [
      "with an exploration that finds an endless run",
      endless,
      () => ({ verdict: "guards", visits: 9, proof: { kind: "exploration" } }),
      "exploration finds an endless run",
    ],
    ["with fewer configurations", byCounts, () => ({ configurations: 2 }), "there are more configurations"],
    ["with a sets proof that does not hold", byCounts, () => ({ proof: { kind: "sets" } }), "leave a cycle"],
    [
      "by a budget the pack does not have",
      endless,
      () => ({ verdict: "budget", visits: 20 }),
      "no `max_total_visits`",
    ],
    ["by a time the pack does not have", endless, () => ({ verdict: "time" }), "no `max_wall_time_sec`"],
    ["as endless without a run", endless, () => ({ witness: null }), "shows no endless run"],
    [
      "as endless by a suspicion",
      endless,
      () => ({ witness: { prefix: [], cycle: ["out"] } }),
      "shows no endless run",
    ],
    [
      "as endless by a run that is cut",
      endless,
      ({ witness }) => ({ witness: { prefix: ["draft", "check", "out"], cycle: witness?.cycle ?? [] } }),
      "does not replay",
    ],
    [
      "as endless by a run from elsewhere",
      endless,
      ({ witness }) => ({
        witness: { prefix: ["out", ...(witness?.prefix.slice(1) ?? [])], cycle: ["out"] },
      }),
      "does not replay",
    ],
    [
      "as endless by a cycle that does not close",
      endless,
      ({ witness }) => ({ witness: { prefix: witness?.prefix ?? [], cycle: ["out", "end"] } }),
      "does not replay",
    ],
    [
      "as endless by a lap through a guard",
      guarded,
      () => ({
        verdict: "unbounded",
        visits: null,
        witness: { prefix: ["plan", "work", "test"], cycle: ["work", "test"] },
      }),
      "does not replay",
    ],
    [
      "as endless by no lap at all",
      endless,
      () => ({ witness: { prefix: ["draft"], cycle: [] } }),
      "does not replay",
    ],
    ["with no number of visits", guarded, () => ({ visits: null }), "without a number of visits"],
    ["with visits where none hold", endless, () => ({ visits: 9 }), "where none holds"],
    ["with more visits than its states have", guarded, () => ({ visits: 8 }), "more visits than its states"],
    [
      "with more visits than the budget",
      { ...endless, visitsMax: 20 },
      () => ({ visits: 21 }),
      "`max_total_visits`",
    ],
    [
      "with more visits than a guard",
      guarded,
      (good) => ({ per_state: { ...good.per_state, work: 3 } }),
      "more visits of `work` than its guard",
    ],
    [
      "with more visits of a state than in all",
      guarded,
      (good) => ({ per_state: { ...good.per_state, test: 9 } }),
      "more visits of `test` than in all",
    ],
    [
      "with a state that is not there",
      guarded,
      (good) => ({ per_state: { ...good.per_state, x: 1 } }),
      "`x` is not a state",
    ],
    ["with too many model calls", guarded, () => ({ model_calls: 28 }), "more model calls"],
    ["with model calls left open", guarded, () => ({ model_calls: null }), "more model calls"],
    ["with too many tool calls", guarded, () => ({ tool_calls: 22 }), "more tool calls"],
    [
      "with children that cost less than nothing",
      guarded,
      (good) => ({ with_children: { ...good.with_children, visits: 6 } }),
      "cannot cost less",
    ],
  ];

  test.each(cases)("%s", (_, pack, change, why) => {
    const { certificate, program } = certified(pack);
    expect(refutation(certificate, { program, digest })).toBeUndefined();
    expect(refutation({ ...certificate, ...change(certificate) }, { program, digest })).toContain(why);
  });
});

function ranksOf(pack: SmallPack): Certificate["proof"] {
  return {
    kind: "rank",
    rank: Object.fromEntries(pack.states.map(({ name }, i) => [name, pack.states.length - i])),
  };
}

test("the certificate of a pack without workflow is one visit of its most expensive prompt", () => {
  const program = { ...programOf(guarded), workflow: null };
  const bound = promptBound(program);
  const certificate = certificateOf({ program, digest, bounds: [bound] }, bound);
  expect(certificate).toMatchObject({ entry: "", visits: 1, model_calls: 3, tool_calls: 3 });
  expect(refutation(certificate, { program, digest })).toBeUndefined();
  expect(refutation({ ...certificate, visits: 2 }, { program, digest })).toContain("one visit");
  expect(refutation({ ...certificate, tool_calls: 2 }, { program, digest })).toContain(
    "other numbers of calls",
  );
});
