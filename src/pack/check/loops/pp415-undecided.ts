// PP415: whether every run ends was not decided within the limit of exploration.

import { onKey, onValue, type Rule } from "../rule.ts";
import { counted, listed } from "../wording.ts";

export const undecided: Rule = {
  code: "PP415",
  severity: "warning",
  title: "boundedness is not decided",
  explain:
    "Runs were explored up to the limit without finding an endless one, and the quicker tests could not " +
    "rule it out either. The states named may form a cycle once some guards are full. Lower a guard, " +
    "which shrinks what must be explored, raise `--limit`, or set a budget, which bounds every run.",
  bad: `
workflow:
  version: 2
  entry: a
  states:
    a: { prompt_task: p, max_visits: 30, on_max_visits: end, on_event: { Next: g } }
    g: { prompt_task: p, max_visits: 40, on_max_visits: b, on_event: { Back: a } }
    b: { prompt_task: p, on_event: { Again: g } }
    end: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: a
  engine: { budget: { max_total_visits: 100 } }
  states:
    a: { prompt_task: p, max_visits: 30, on_max_visits: end, on_event: { Next: g } }
    g: { prompt_task: p, max_visits: 40, on_max_visits: b, on_event: { Back: a } }
    b: { prompt_task: p, on_event: { Again: g } }
    end: { prompt_task: p, terminal: true }
`,
  badConfig: "limit: 20\n",
  check: ({ bounds, program }, report) => {
    const open =
      program.workflow === null ? undefined : bounds.find((bound) => bound.verdict === "undecided");
    if (open === undefined) return;
    const cycle = open.witness?.cycle ?? [];
    const [first] = cycle;
    report({
      at: first === undefined ? onValue("workflow", "entry") : onKey("workflow", "states", first),
      message: `not decided after ${counted(open.configurations, "configuration")}`,
      why:
        first === undefined
          ? "a cycle could not be ruled out"
          : `a cycle is possible through ${listed(cycle)}`,
      help: "lower a guard, or raise `--limit`",
      data: { entry: open.entry, configurations: open.configurations, cycle, exact: false },
    });
  },
};
