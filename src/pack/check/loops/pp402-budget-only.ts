// PP402: a cycle of unguarded states that only the visit budget ends.

import type { Rule } from "../rule.ts";
import { grouped } from "../wording.ts";
import { endlessRuns } from "./endless-runs.ts";
import { guardAdvice } from "./guard-advice.ts";

export const budgetOnly: Rule = {
  code: "PP402",
  severity: "warning",
  stricter: true,
  title: "cycle ends only at the visit budget",
  explain:
    "The states of this cycle lead to each other by plain events and none of them has `max_visits`. The " +
    "budget ends such a run wherever it happens to be, with status `budget_exhausted` and without its " +
    "last state. A guard on one of the states ends the loop in a state of your choice and leaves the " +
    "budget as a safety net.",
  bad: `
workflow:
  version: 2
  entry: ask
  engine: { budget: { max_total_visits: 40 } }
  states:
    ask: { prompt_task: p, on_event: { Asked: answer } }
    answer: { prompt_task: p, on_event: { MoreToAsk: ask, Solved: done } }
    done: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: ask
  engine: { budget: { max_total_visits: 40 } }
  states:
    ask: { prompt_task: p, on_event: { Asked: answer } }
    answer:
      prompt_task: p
      max_visits: 3
      on_max_visits: done
      on_event: { MoreToAsk: ask, Solved: done }
    done: { prompt_task: p, terminal: true }
`,
  check: (context, report) => {
    const visitsMax = context.program.workflow?.budget.visitsMax ?? null;
    if (visitsMax === null) return;
    for (const run of endlessRuns(context, "plain")) {
      report({
        at: run.at,
        message: `${run.cycle} ends only at ${grouped(visitsMax)} visits`,
        why: `the budget stops it wherever it happens to be${run.waiting}`,
        help: guardAdvice(run.advice),
        related: run.legs,
        data: { ...run.data, max_total_visits: visitsMax },
      });
    }
  },
};
