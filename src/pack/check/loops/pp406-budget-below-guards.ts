// PP406: the visit budget is smaller than what the guards allow (RFC 0009, validation rule 5).

import { type Flow, isGuarded } from "../../../core/flow.ts";
import type { Analysis } from "../../flow/analysis.ts";
import { longest } from "../../flow/longest.ts";
import { onValue, type Rule } from "../rule.ts";
import { grouped } from "../wording.ts";

export const budgetBelowGuards: Rule = {
  code: "PP406",
  severity: "warning",
  title: "visit budget is below the sum of the guards",
  explain:
    "Together the guards of the states a run can enter allow more visits than `max_total_visits`, so the " +
    "budget may end a run before its guards do, in the middle of the work. Raise the budget, or lower the " +
    "guards until their sum fits.",
  bad: `
workflow:
  version: 2
  entry: write
  engine: { budget: { max_total_visits: 10 } }
  states:
    write: { prompt_task: p, max_visits: 10, on_max_visits: done, on_event: { Written: test } }
    test:
      prompt_task: p
      max_visits: 10
      on_max_visits: done
      on_event: { Failed: write, Flaky: test, Passed: done }
    done: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: write
  engine: { budget: { max_total_visits: 25 } }
  states:
    write: { prompt_task: p, max_visits: 10, on_max_visits: done, on_event: { Written: test } }
    test:
      prompt_task: p
      max_visits: 10
      on_max_visits: done
      on_event: { Failed: write, Flaky: test, Passed: done }
    done: { prompt_task: p, terminal: true }
`,
  check: ({ flow, analyses, program, damagedStates }, report) => {
    const budget = program.workflow?.budget.visitsMax ?? null;
    if (budget === null || damagedStates.size > 0) return;
    const sums = analyses.map((analysis) => guardSum(flow, analysis));
    const sum = Math.max(0, ...sums);
    if (budget >= sum) return;
    const analysis = analyses[sums.indexOf(sum)] as Analysis;
    const run = longestByGuards(analysis);
    report({
      at: onValue("workflow", "engine", "budget", "max_total_visits"),
      message: `budget ${grouped(budget)}, guards allow ${grouped(sum)}`,
      why: run === undefined ? "the budget may end a run before its guards do" : reason(run),
      help: "raise one or lower the other",
      data: {
        max_total_visits: budget,
        sum,
        longest_run: run === Infinity ? null : (run ?? null),
        exact: analysis.exact,
      },
    });
  },
};

function guardSum(flow: Flow, { reachable }: Analysis): number {
  let sum = 0;
  for (const [index, state] of flow.states.entries()) {
    if (isGuarded(state) && reachable.has(index)) sum += state.visitsMax;
  }
  return sum;
}

/** `Infinity` when guards do not end every run; undefined when that was not explored. */
function longestByGuards(analysis: Analysis): number | undefined {
  if (analysis.lassos.length > 0) return Infinity;
  return analysis.exact ? longest(analysis.graph, () => 1) : undefined;
}

function reason(run: number): string {
  return run === Infinity
    ? "by guards alone some runs never end"
    : `longest run by guards alone is ${grouped(run)}`;
}
