// The advice of PP401 to PP403, tried on generated flows.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Flow, type FlowState, NONE } from "../../core/flow.ts";
import { analyse } from "./analysis.ts";
import { type TriedGuard, triedGuard } from "./tried-guard.ts";

const SIZE = 5;

const stateParts = fc.record({
  kind: fc.constantFrom("terminal", "open", "open", "guarded", "guarded"),
  external: fc.boolean(),
  targets: fc.array(fc.nat(SIZE - 1), { minLength: 1, maxLength: 3 }),
  visitsMax: fc.integer({ min: 1, max: 3 }),
  fallback: fc.option(fc.nat(SIZE - 1), { nil: NONE }),
});

const flows: fc.Arbitrary<Flow> = fc.array(stateParts, { minLength: SIZE, maxLength: SIZE }).map((parts) => {
  const states = parts.map(({ kind, external, targets, visitsMax, fallback }, index): FlowState => {
    return {
      name: `s${index}`,
      terminal: kind === "terminal",
      external,
      incomplete: false,
      events: kind === "terminal" ? [] : targets.map((target, e) => ({ name: `E${e}`, target })),
      visitsMax: kind === "guarded" ? visitsMax : Infinity,
      fallback: kind === "guarded" ? fallback : NONE,
    };
  });
  return { states, entry: 0 };
});

function withGuard(flow: Flow, { state, visitsMax, fallback }: TriedGuard): Flow {
  return {
    ...flow,
    states: flow.states.map((one, index) => (index === state ? { ...one, visitsMax, fallback } : one)),
  };
}

test("a guard advised for the only endless cycle sends no run round that cycle again", () => {
  let advised = 0;
  fc.assert(
    fc.property(flows, (flow) => {
      const { lassos } = analyse(flow, 0);
      const [lasso] = lassos;
      if (lasso === undefined || lassos.length > 1) return;
      const guard = triedGuard({ flow, starts: [0], lasso, others: [] });
      if (guard === undefined) return;
      advised++;
      const cycle = lasso.cycle.map((leg) => leg.state);
      const after = analyse(withGuard(flow, guard), 0);
      const left = after.lassos.flatMap((one) => one.members);
      expect(cycle.filter((state) => left.includes(state))).toEqual([]);
    }),
    { seed: 7, numRuns: 3_000 },
  );
  expect(advised).toBeGreaterThan(300);
});

test("a guard advised for an external state leads to an end or nowhere", () => {
  let advised = 0;
  fc.assert(
    fc.property(flows, (flow) => {
      for (const lasso of analyse(flow, 0).lassos) {
        const guard = triedGuard({ flow, starts: [0], lasso, others: [] });
        if (guard === undefined || flow.states[guard.state]?.external !== true) continue;
        advised++;
        expect(guard.fallback === NONE || flow.states[guard.fallback]?.terminal).toBe(true);
      }
    }),
    { seed: 8, numRuns: 3_000 },
  );
  expect(advised).toBeGreaterThan(100);
});

test("the guard advised is that of the first state in file order which ends the cycle", () => {
  const plain = { terminal: false, external: false, incomplete: false, visitsMax: Infinity, fallback: NONE };
  const flow: Flow = {
    entry: 0,
    states: [
      { ...plain, name: "ask", events: [{ name: "Asked", target: 1 }] },
      {
        ...plain,
        name: "answer",
        events: [
          { name: "More", target: 0 },
          { name: "Solved", target: 2 },
        ],
      },
      { ...plain, name: "end", terminal: true, events: [] },
    ],
  };
  const [lasso] = analyse(flow, 0).lassos;
  // Falling back from `ask` to `answer` would go on round the same cycle.
  expect(lasso && triedGuard({ flow, starts: [0], lasso, others: [] })).toEqual({
    state: 1,
    visitsMax: 3,
    fallback: 2,
  });
});
