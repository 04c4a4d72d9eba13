// PP407: a guard that acts in some run, but in none within the visit budget.

import { isGuarded, NONE } from "../../../core/flow.ts";
import { isGraphWhole } from "../graph/graph-facts.ts";
import { onKey, type Rule } from "../rule.ts";
import { counted, grouped } from "../wording.ts";
import { firstFullAttempt } from "./guard-attempts.ts";

export const guardBeyondBudget: Rule = {
  code: "PP407",
  severity: "warning",
  title: "guard is out of reach within the visit budget",
  explain:
    "Runs exist in which this guard would act, but each of them needs more visits than `max_total_visits` " +
    "allows, so the budget ends the run first and `on_max_visits` is never used. Raise the budget, or " +
    "lower the guard.",
  bad: `
workflow:
  version: 2
  entry: fix
  engine: { budget: { max_total_visits: 12 } }
  states:
    fix: { prompt_task: p, on_event: { Fixed: verify } }
    verify:
      prompt_task: p
      max_visits: 8
      on_max_visits: report
      on_event: { Broken: fix, Healthy: report }
    report: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: fix
  engine: { budget: { max_total_visits: 20 } }
  states:
    fix: { prompt_task: p, on_event: { Fixed: verify } }
    verify:
      prompt_task: p
      max_visits: 8
      on_max_visits: report
      on_event: { Broken: fix, Healthy: report }
    report: { prompt_task: p, terminal: true }
`,
  check: (context, report) => {
    const budget = context.program.workflow?.budget.visitsMax ?? null;
    if (budget === null || !isGraphWhole(context)) return;
    for (const [index, state] of context.flow.states.entries()) {
      if (!isGuarded(state)) continue;
      const attempt = firstFullAttempt(context, index);
      // Redirects are resolved before the budget is checked: with a fallback one more visit must fit.
      const needed = state.fallback === NONE ? attempt.visits : attempt.visits + 1;
      if (needed <= budget || needed === Infinity) continue;
      const visits = `${attempt.exact ? "" : "at least "}${grouped(needed)}`;
      report({
        at: onKey("workflow", "states", state.name, "max_visits"),
        message: `guard of \`${state.name}\` (${grouped(state.visitsMax)}) is out of reach`,
        why: `the budget ends the run after ${counted(budget, "visit")}, the guard needs ${visits}`,
        help: "raise the budget, or lower the guard",
        data: {
          state: state.name,
          max_visits: state.visitsMax,
          max_total_visits: budget,
          needed,
          exact: attempt.exact,
        },
      });
    }
  },
};
