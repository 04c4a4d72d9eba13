// PP411: a limit on tool calls that no run can reach.

import { onValue, type Rule } from "../rule.ts";
import { grouped } from "../wording.ts";
import { worstToolCalls } from "./worst-tool-calls.ts";

export const idleToolBudget: Rule = {
  code: "PP411",
  severity: "info",
  title: "max_tool_calls never binds",
  explain:
    "Guards, the visit budget and the calls a turn may make already keep every run at or below this " +
    "limit, so it catches nothing. Lower it to what a normal run needs, so that an unusual one is " +
    "noticed.",
  bad: `
prompts:
  search:
    { id: search, name: Search, version: 1.0.0, system_template: Search. Emit Done., tools: [find],
      tool_policy: { max_tool_calls_per_turn: 4 } }
tools:
  find: { name: find, description: Find a page. }
workflow:
  version: 2
  entry: look
  engine: { budget: { max_tool_calls: 200 } }
  states:
    look: { prompt_task: search, on_event: { Done: end } }
    end: { prompt_task: search, terminal: true }
`,
  good: `
prompts:
  search:
    { id: search, name: Search, version: 1.0.0, system_template: Search. Emit Done., tools: [find],
      tool_policy: { max_tool_calls_per_turn: 4 } }
tools:
  find: { name: find, description: Find a page. }
workflow:
  version: 2
  entry: look
  engine: { budget: { max_tool_calls: 6 } }
  states:
    look: { prompt_task: search, on_event: { Done: end } }
    end: { prompt_task: search, terminal: true }
`,
  check: (context, report) => {
    const budget = context.program.workflow?.budget.toolCallsMax ?? null;
    if (budget === null || context.analyses.length === 0) return;
    const worst = worstToolCalls(context);
    if (worst === null || budget < worst) return;
    report({
      at: onValue("workflow", "engine", "budget", "max_tool_calls"),
      message: `max_tool_calls ${grouped(budget)} never binds`,
      why: worst === 0 ? "no state offers a tool" : `the worst case is ${grouped(worst)}`,
      help: worst === 0 ? "remove it" : "lower it to catch surprises",
      data: { max_tool_calls: budget, worst, exact: context.bounds.every((bound) => bound.exact) },
    });
  },
};
