import { expect, test } from "vitest";
import { flowOf, NONE, resolveEntry } from "../../src/core/flow.ts";
import { packOf } from "./notation.ts";
import { programOf } from "./small-pack.ts";

/** Where aiming at the first state leads when the named ones are full, and by which hops. */
function aimed(
  line: string,
  ...full: readonly string[]
): { entered: string | null; hops: readonly string[] } {
  const flow = flowOf(programOf(packOf(line)));
  const visits = flow.states.map((state) => (full.includes(state.name) ? state.visitsMax : 0));
  const hops: number[] = [];
  const entered = resolveEntry(flow, 0, visits, hops);
  const nameOf = (state: number) => flow.states[state]?.name ?? "";
  return { entered: entered === NONE ? null : nameOf(entered), hops: hops.map(nameOf) };
}

const chain = "a(2, b) → a; b(1, c) → a; c(3, d) → a; d → a";

test("a state with a visit left is entered itself", () => {
  expect(aimed(chain)).toEqual({ entered: "a", hops: [] });
  expect(aimed(chain, "b", "c")).toEqual({ entered: "a", hops: [] });
});

test("a chain of full states is followed, each hop is told", () => {
  expect(aimed(chain, "a")).toEqual({ entered: "b", hops: ["a"] });
  expect(aimed(chain, "a", "b", "c")).toEqual({ entered: "d", hops: ["a", "b", "c"] });
});

test("a full state without a fallback ends the run", () => {
  expect(aimed("a(2, b) → a; b(1) → a", "a", "b")).toEqual({ entered: null, hops: ["a", "b"] });
});

test("a chain that meets a state twice ends the run, each hop is told once", () => {
  expect(aimed("a(1, a) → a", "a")).toEqual({ entered: null, hops: ["a"] });
  expect(aimed("a(1, b) → a; b(1, a) → a", "a", "b")).toEqual({ entered: null, hops: ["a", "b"] });
  const tail = "a(1, b) → a; b(1, c) → a; c(1, d) → a; d(1, e) → a; e(1, c) → a";
  expect(aimed(tail, "a", "b", "c", "d", "e")).toEqual({ entered: null, hops: ["a", "b", "c", "d", "e"] });
  expect(aimed(tail, "a", "b", "c", "d")).toEqual({ entered: "e", hops: ["a", "b", "c", "d"] });
});

test("circles of every length behind tails of every length end the run", () => {
  for (let tail = 0; tail <= 9; tail++) {
    for (let circle = 1; circle <= 9; circle++) {
      const names = Array.from({ length: tail + circle }, (_, i) => `s${i}`);
      const line = names.map((name, i) => `${name}(1, ${names[i + 1] ?? names[tail]}) → s0`).join("; ");
      expect(aimed(line, ...names)).toEqual({ entered: null, hops: names });
    }
  }
});
