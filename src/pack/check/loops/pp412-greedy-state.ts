// PP412: one state alone can spend the whole budget of tool calls.

import { visitLimits } from "../../../core/visit-limits.ts";
import { type CheckContext, onKey, type Rule } from "../rule.ts";
import { counted, grouped } from "../wording.ts";
import { worstToolCalls } from "./worst-tool-calls.ts";

export const greedyState: Rule = {
  code: "PP412",
  severity: "info",
  title: "one state can spend all tool calls",
  explain:
    "The visits this state may have, times the tool calls one visit may make, reach `max_tool_calls`, so " +
    "it can leave nothing to the states after it. Lower `max_tool_calls_per_turn` of its prompt, lower " +
    "its guard, or raise the budget.",
  bad: `
prompts:
  query: { id: query, name: Query, version: 1.0.0, system_template: Query. Emit More or Done., tools: [sql] }
tools:
  sql: { name: sql, description: Run a query. }
workflow:
  version: 2
  entry: query
  engine: { budget: { max_tool_calls: 50 } }
  states:
    query:
      prompt_task: query
      max_visits: 8
      on_max_visits: report
      on_event: { More: query, Done: report }
    report: { prompt_task: query, terminal: true }
`,
  good: `
prompts:
  query:
    { id: query, name: Query, version: 1.0.0, system_template: Query. Emit More or Done., tools: [sql],
      tool_policy: { max_tool_calls_per_turn: 5 } }
tools:
  sql: { name: sql, description: Run a query. }
workflow:
  version: 2
  entry: query
  engine: { budget: { max_tool_calls: 44 } }
  states:
    query:
      prompt_task: query
      max_visits: 8
      on_max_visits: report
      on_event: { More: query, Done: report }
    report: { prompt_task: query, terminal: true }
`,
  check: (context, report) => {
    const { program, flow } = context;
    const budget = program.workflow?.budget.toolCallsMax ?? null;
    if (budget === null || context.analyses.length === 0) return;
    const worst = worstToolCalls(context);
    if (worst !== null && worst <= budget) return;
    for (const state of flow.states) {
      const perVisit = visitLimits(program, state.name).toolCalls;
      const visits = mostVisits(context, state.name);
      if (perVisit === 0 || visits === 0 || (visits !== null && visits * perVisit < budget)) continue;
      const calls = visits === null ? null : visits * perVisit;
      const asked = calls === null ? "any number of" : grouped(calls);
      report({
        at: onKey("workflow", "states", state.name),
        message: `\`${state.name}\` alone may ask for ${asked} calls, the budget is ${grouped(budget)}`,
        why:
          visits === null
            ? `nothing limits its visits, ${counted(perVisit, "call")} each`
            : `${counted(visits, "visit")} of ${counted(perVisit, "call")}`,
        help: visits === null ? `guard \`${state.name}\`` : "lower `max_tool_calls_per_turn`",
        data: { state: state.name, max_tool_calls: budget, visits, calls_per_visit: perVisit, calls },
      });
    }
  },
};

/** Over all entry points; null when there is no limit, 0 when no run enters it. */
function mostVisits({ bounds }: CheckContext, state: string): number | null {
  let most = 0;
  for (const { perState } of bounds) {
    const visits = Object.hasOwn(perState, state) ? perState[state] : 0;
    if (visits === null) return null;
    most = Math.max(most, visits ?? 0);
  }
  return most;
}
