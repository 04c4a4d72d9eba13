// PP502 against its definition: walk every run of a small workflow and remember whether a writer was visited.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checkText } from "../../src/pack/check-text.ts";

interface State {
  readonly targets: readonly number[];
  readonly visitsMax: number;
  readonly fallback: number;
  readonly writes: boolean;
  readonly reads: boolean;
}

const stateOf = (count: number): fc.Arbitrary<State> =>
  fc.record({
    targets: fc.uniqueArray(fc.nat(count - 1), { maxLength: 3 }),
    visitsMax: fc.constantFrom(0, 1, 2, 3),
    fallback: fc.integer({ min: -1, max: count - 1 }),
    writes: fc.boolean(),
    reads: fc.boolean(),
  });

const workflows = fc
  .integer({ min: 2, max: 5 })
  .chain((count) => fc.array(stateOf(count), { minLength: count, maxLength: count }));

function packOf(states: readonly State[]): string {
  const entries = states.map((state, index) => {
    const events = state.targets.map((target) => [`To${target}`, `s${target}`] as const);
    const guard = {
      max_visits: state.visitsMax,
      ...(state.fallback >= 0 && { on_max_visits: `s${state.fallback}` }),
    };
    const artifacts = { x: { type: "text/plain" } };
    return [
      `s${index}`,
      {
        prompt_task: state.reads ? "reader" : "plain",
        ...(events.length === 0 ? { terminal: true } : { on_event: Object.fromEntries(events) }),
        ...(state.visitsMax > 0 && guard),
        ...(state.writes && { artifacts }),
      },
    ] as const;
  });
  const prompt = { name: "P", version: "1.0.0" };
  return JSON.stringify({
    id: "sample",
    name: "Sample",
    version: "1.0.0",
    template_engine: { version: "v1", syntax: "{{variable}}" },
    prompts: {
      reader: { id: "reader", ...prompt, system_template: "{{artifacts.x}}" },
      plain: { id: "plain", ...prompt, system_template: "Go on." },
    },
    workflow: { version: 2, entry: "s0", states: Object.fromEntries(entries) },
  });
}

interface Configuration {
  readonly at: number;
  readonly visits: readonly number[];
  /** A writer was visited on the way. */
  readonly isWritten: boolean;
}

/** Walks every run with all its counters, and notes the states that read while nothing had been written. */
function oracle(states: readonly State[]): ReadonlySet<string> {
  const found = new Set<string>();
  const seen = new Set<string>();
  const queue: Configuration[] = [];
  const enter = (target: number, { visits, isWritten }: Omit<Configuration, "at">) => {
    const at = entered(states, target, visits);
    if (at === undefined) return;
    const state = states[at] as State;
    if (state.reads && !state.writes && !isWritten) found.add(`s${at}`);
    const next = {
      at,
      visits: visits.map((count, index) => (index === at && state.visitsMax > 0 ? count + 1 : count)),
      isWritten: isWritten || state.writes,
    };
    const key = JSON.stringify(next);
    if (!seen.has(key)) queue.push(next);
    seen.add(key);
  };
  enter(0, { visits: states.map(() => 0), isWritten: false });
  let isWriterReached = false;
  for (let here = queue.shift(); here !== undefined; here = queue.shift()) {
    isWriterReached ||= here.isWritten;
    for (const target of (states[here.at] as State).targets) enter(target, here);
  }
  // An artifact no run can write is the subject of PP504.
  return isWriterReached ? found : new Set();
}

function entered(states: readonly State[], target: number, visits: readonly number[]): number | undefined {
  const met = new Set<number>();
  for (let at = target; ; ) {
    const { visitsMax, fallback } = states[at] as State;
    if (visitsMax === 0 || (visits[at] as number) < visitsMax) return at;
    if (met.has(at) || fallback < 0) return undefined;
    met.add(at);
    at = fallback;
  }
}

test("a state is reported exactly when a run reads there before any writer was visited", () => {
  fc.assert(
    fc.property(workflows, (states) => {
      const { findings } = checkText(packOf(states), { file: "pack.json" });
      const reported = findings
        .filter((finding) => finding.code === "PP502")
        .map((finding) => finding.data["state"]);
      expect(new Set(reported)).toEqual(oracle(states));
    }),
    { numRuns: 500 },
  );
});
