// Workflows small enough to count by hand, with their exact bounds.

import { describe, expect, test } from "vitest";
import type { Flow, FlowState } from "../../src/core/flow.ts";
import { checkText } from "../../src/pack/check-text.ts";
import { foldPath } from "../../src/pack/flow/fold-path.ts";
import type { Lasso } from "../../src/pack/flow/lasso.ts";
import { setTest } from "../../src/pack/flow/set-test.ts";
import { bounded, packOf } from "./notation.ts";
import { truthOf } from "./oracle.ts";

const counted = "tick(5, sum) → tick; sum terminal";
const counterexample = "a(2, end) → g; g(3, b) → a; b → g; end terminal";
const publishing = "draft → check; check(4, publish) → publish, draft; publish → end, check; end terminal";
const mended =
  "draft → check; check(4, publish) → publish, draft; publish(2, end) → end, check; end terminal";
const chain = "a(2, b) → a, b; b(2, c) → a, c; c(1, end) → a, end; end terminal";
const circle = "a(2, b) → b; b(2, a) → a";
const asking = "ask → answer; answer → ask, end; end terminal";

describe("small fixtures", () => {
  test("counted repetition ends at its fallback", () => {
    const { bound } = bounded(packOf(counted));
    expect(bound).toMatchObject({ verdict: "guards", exact: true, visits: 6, perState: { tick: 5, sum: 1 } });
    expect(foldPath(bound.longestRun)).toBe("tick×5 → sum");
  });

  test("counts decide where sets of exhausted guards do not", () => {
    const { flow, analysis, bound } = bounded(packOf(counterexample));
    expect(bound).toMatchObject({ verdict: "guards", visits: 5, proof: { kind: "exploration" } });
    expect(bound.perState).toEqual({ a: 2, g: 2, end: 1 });
    expect(setTest(flow, flow.entry)).toEqual({ kind: "suspect", cycle: [2] });
    expect([...analysis.graph.exploration.firstFullAttempt]).toEqual([4, Infinity, Infinity, Infinity]);
  });

  test("a fallback that leads back makes an endless run out of a guarded loop", () => {
    const { flow, analysis, bound } = bounded(packOf(publishing));
    expect(bound).toMatchObject({ verdict: "unbounded", exact: true, visits: null, modelCalls: null });
    expect(bound.perState).toEqual({ draft: 5, check: 4, publish: null, end: 1 });
    expect(analysis.lassos).toHaveLength(1);
    const [lasso] = analysis.lassos as [Lasso];
    expect(lasso.plain).toBe(false);
    expect(lasso.exhausted.map((state) => nameIn(flow, state))).toEqual(["check"]);
    expect(foldPath(bound.witness?.prefix ?? [])).toBe("draft → (check → publish)×4");
    expect(bound.witness?.cycle).toEqual(["publish"]);
  });

  test("with a visit budget the same run is cut there", () => {
    const { bound } = bounded(packOf(publishing, { visitsMax: 20 }));
    expect(bound).toMatchObject({ verdict: "budget", exact: true, visits: 20 });
    // Four of the first nine visits are at publish, and all that follow.
    expect(bound.perState).toEqual({ draft: 5, check: 4, publish: 15, end: 1 });
  });

  test("with wall time alone it is bounded in seconds only", () => {
    const { bound } = bounded(packOf(publishing, { wallTimeSec: 60 }));
    expect(bound).toMatchObject({ verdict: "time", visits: null, wallTimeSec: 60 });
  });

  test("a guard on the fallback bounds it", () => {
    const { bound } = bounded(packOf(mended));
    expect(bound).toMatchObject({ verdict: "guards", visits: 12, proof: { kind: "rank" } });
    expect(bound.perState).toEqual({ draft: 5, check: 4, publish: 2, end: 1 });
  });

  test("a chain over three guards is followed to its end", () => {
    const { bound } = bounded(packOf(chain));
    expect(bound).toMatchObject({ verdict: "guards", visits: 6, perState: { a: 2, b: 2, c: 1, end: 1 } });
  });

  test("a circle of exhausted guards ends the run, and the bound is still given", () => {
    const { analysis, bound } = bounded(packOf(circle));
    expect(bound).toMatchObject({ verdict: "guards", visits: 4, perState: { a: 2, b: 2 } });
    expect(analysis.canEnd.size).toBe(0);
  });

  test("a guard that falls back to itself ends the run", () => {
    expect(bounded(packOf("a(3, a) → a")).bound).toMatchObject({ verdict: "guards", visits: 3 });
  });

  test("a chain into a circle ends the run", () => {
    const { bound } = bounded(packOf("s → a, s2; s2 → a; a(1, b) → s2; b(1, c) → s2; c(1, b) → s2"));
    expect(bound).toMatchObject({ verdict: "guards", exact: true });
    expect(bound.perState).toEqual({ s: 1, s2: 4, a: 1, b: 1, c: 1 });
  });

  test("a cycle of unguarded states is endless from the start", () => {
    const { analysis, bound } = bounded(packOf(asking));
    expect(bound).toMatchObject({ verdict: "unbounded", visits: null });
    expect(analysis.lassos.map((lasso) => lasso.plain)).toEqual([true]);
    expect(bound.witness).toEqual({ prefix: ["ask"], cycle: ["answer", "ask"] });
  });

  test.each([counted, counterexample, publishing, mended, chain, circle, asking])(
    "the oracle agrees on %s",
    (line) => {
      const pack = packOf(line);
      const { most } = truthOf(pack, pack.entry);
      expect(bounded(pack).bound.visits ?? Infinity).toBe(most.visits);
    },
  );
});

const nameIn = (flow: Flow, state: number) => (flow.states[state] as FlowState).name;

describe("numbers that do not fit one word or one place", () => {
  test("counters fill several words", () => {
    const guards = Array.from({ length: 16 }, (_, i) => {
      return `s${i}(${1 + (i % 7)}, end) → s${(i + 1) % 16}, ${i < 9 ? `s${i + 7}` : "end"}`;
    });
    const pack = packOf(`${guards.join("; ")}; end terminal`);
    const { most } = truthOf(pack, "s0");
    expect(bounded(pack).bound).toMatchObject({ exact: true, visits: most.visits });
    expect(bounded(pack).bound.perState).toEqual(Object.fromEntries(most.perState));
  });

  test("a counter that would begin at the end of a word is kept whole", () => {
    // Ten counters of three bits leave two bits of the first word.
    const ring = Array.from({ length: 11 }, (_, i) => `s${i}(${i === 10 ? 4 : 5}, end) → s${(i + 1) % 11}`);
    const { bound } = bounded(packOf(`${ring.join("; ")}; end terminal`));
    expect(bound).toMatchObject({ visits: 4 * 11 + 10 + 1, perState: { s9: 5, s10: 4, end: 1 } });
  });

  test("a long ring of guards is walked as often as its weakest guard allows", () => {
    const ring = Array.from({ length: 100 }, (_, i) => `s${i}(${i === 40 ? 2 : 3}, end) → s${(i + 1) % 100}`);
    const { bound } = bounded(packOf(`${ring.join("; ")}; end terminal`));
    expect(bound).toMatchObject({ verdict: "guards", exact: true, configurations: 241, visits: 241 });
    expect(bound.perState).toMatchObject({ s0: 3, s39: 3, s40: 2, s41: 2, end: 1 });
  });

  test("a limit beyond 32 bits is never reached and still counts", () => {
    const { bound } = bounded(packOf("a(5000000000) → b; b(2, end) → a; end terminal"));
    expect(bound).toMatchObject({
      verdict: "guards",
      exact: true,
      visits: 6,
      perState: { a: 3, b: 2, end: 1 },
    });
  });

  test("past the limit an unreachable sum of guards is given as an upper bound", () => {
    const { bound } = bounded(packOf("a(5000000000, end) → a; end terminal"), 1_000);
    expect(bound).toMatchObject({
      verdict: "guards",
      exact: false,
      configurations: 1_000,
      visits: 10_000_000_001,
    });
  });
});

describe("a code generation pack", () => {
  const text = `
id: codegen
name: Code generation
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
tools:
  write_file: { name: write_file, description: Writes one file. }
  run_tests: { name: run_tests, description: Runs the test suite. }
prompts:
  planner: { id: planner, name: Planner, version: 1.0.0, system_template: Plan the change. }
  coder: { id: coder, name: Coder, version: 1.0.0, system_template: Write the code., tools: [write_file] }
  tester: { id: tester, name: Tester, version: 1.0.0, system_template: Test the code., tools: [run_tests] }
  reviewer: { id: reviewer, name: Reviewer, version: 1.0.0, system_template: Review the code. }
workflow:
  version: 2
  entry: plan
  engine: { budget: { max_total_visits: 30, max_tool_calls: 200 } }
  states:
    plan:
      prompt_task: planner
      artifacts: { plan: { type: text/markdown } }
      on_event: { PlanReady: implement }
    implement: { prompt_task: coder, max_visits: 6, on_max_visits: review, on_event: { CodeReady: test } }
    test: { prompt_task: tester, on_event: { TestsPassed: review, TestsFailed: implement } }
    review:
      prompt_task: reviewer
      max_visits: 2
      on_max_visits: done
      on_event: { Approved: done, ChangesNeeded: implement }
    done: { prompt_task: reviewer, terminal: true }
`;

  test("has at most 16 visits, 111 model calls and 120 tool calls", () => {
    const [bound] = checkText(text, { file: "codegen.yaml" }).packs[0]?.bounds ?? [];
    expect(bound).toMatchObject({
      verdict: "guards",
      exact: true,
      visits: 16,
      modelCalls: 111,
      toolCalls: 120,
    });
    expect(bound?.perState).toEqual({ plan: 1, implement: 6, test: 6, review: 2, done: 1 });
    expect(bound?.proof).toEqual({ kind: "rank", rank: { plan: 1, test: 1, done: 0 } });
    expect(foldPath(bound?.longestRun ?? [])).toBe(
      "plan → (implement → test → review)×2 → (implement → test)×4 → done",
    );
  });
});
