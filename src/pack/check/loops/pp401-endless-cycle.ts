// PP401: a cycle of unguarded states, and no limit on visits.

import type { BudgetSpec } from "../../../core/program.ts";
import type { Rule } from "../rule.ts";
import { grouped } from "../wording.ts";
import { endlessRuns } from "./endless-runs.ts";
import { guardAdvice } from "./guard-advice.ts";

export const endlessCycle: Rule = {
  code: "PP401",
  severity: "warning",
  stricter: true,
  title: "unguarded cycle without a visit budget",
  explain:
    "The states of this cycle lead to each other by plain events, none of them has `max_visits`, and " +
    "there is no `max_total_visits`, so a run may go round for ever and spend tokens on every lap. Give " +
    "one of the states `max_visits` and an `on_max_visits` that leads out of the cycle. The state named " +
    "in the advice was tried.",
  bad: `
workflow:
  version: 2
  entry: ask
  engine: { budget: { max_wall_time_sec: 600 } }
  states:
    ask: { prompt_task: p, on_event: { Asked: answer } }
    answer: { prompt_task: p, on_event: { MoreToAsk: ask, Solved: end } }
    end: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: ask
  engine: { budget: { max_wall_time_sec: 600 } }
  states:
    ask: { prompt_task: p, on_event: { Asked: answer } }
    answer:
      prompt_task: p
      max_visits: 3
      on_max_visits: end
      on_event: { MoreToAsk: ask, Solved: end }
    end: { prompt_task: p, terminal: true }
`,
  check: (context, report) => {
    const budget = context.program.workflow?.budget;
    if (budget === undefined || budget.visitsMax !== null) return;
    for (const run of endlessRuns(context, "plain")) {
      report({
        at: run.at,
        message: `${run.cycle} can repeat for ever`,
        why: `${run.isAlone ? "it has no" : "no member has"} max_visits and ${missing(budget)}${run.waiting}`,
        help: guardAdvice(run.advice),
        related: run.legs,
        data: { ...run.data, max_wall_time_sec: budget.wallTimeSec },
      });
    }
  },
};

function missing(budget: BudgetSpec): string {
  if (budget.wallTimeSec !== null) return `only the wall time of ${grouped(budget.wallTimeSec)} s ends it`;
  return Object.values(budget).every((limit) => limit === null)
    ? "there is no budget"
    : "there is no max_total_visits";
}
