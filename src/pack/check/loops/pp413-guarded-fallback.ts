// PP413: the fallback of a guard is guarded itself.

import { type Flow, type FlowState, NONE } from "../../../core/flow.ts";
import { onValue, type Rule } from "../rule.ts";
import { canBeFull, chainEnds } from "./forced-exits.ts";

export const guardedFallback: Rule = {
  code: "PP413",
  severity: "info",
  title: "on_max_visits leads to a guarded state",
  explain:
    "When the fallback is full as well, its own `on_max_visits` is followed, and so on until a state can " +
    "be entered. Runtimes that follow a single step would enter the fallback beyond its limit. Point " +
    "`on_max_visits` at an unguarded state if the pack should behave the same everywhere.",
  bad: `
workflow:
  version: 2
  entry: a
  engine: { budget: { max_total_visits: 9 } }
  states:
    a: { prompt_task: p, max_visits: 2, on_max_visits: b, on_event: { Again: a, Next: b } }
    b: { prompt_task: p, max_visits: 2, on_max_visits: end, on_event: { Back: a, Done: end } }
    end: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: a
  engine: { budget: { max_total_visits: 9 } }
  states:
    a: { prompt_task: p, max_visits: 2, on_max_visits: end, on_event: { Again: a, Next: b } }
    b: { prompt_task: p, on_event: { Back: a, Done: end } }
    end: { prompt_task: p, terminal: true }
`,
  check: ({ flow }, report) => {
    const ends = chainEnds(flow);
    for (const [index, state] of flow.states.entries()) {
      const next = flow.states[state.fallback];
      if (!canBeFull(state) || next === undefined || !canBeFull(next) || ends[index] === "circle") continue;
      const chain = chainFrom(flow, index);
      const stops = ends[index] === "stop" ? " and then ends the run" : "";
      const followed = `follows the chain ${chain.join(" → ")}${stops}`;
      report({
        at: onValue("workflow", "states", state.name, "on_max_visits"),
        message: `fallback \`${next.name}\` has its own guard`,
        why: `packloop ${followed}; one-hop runtimes enter \`${next.name}\` beyond its limit`,
        help: "point it at an unguarded state",
        data: { state: state.name, fallback: next.name, chain, end: ends[index] ?? "open" },
      });
    }
  },
};

const CHAIN_SHOWN = 8;

function chainFrom(flow: Flow, start: number): readonly string[] {
  const names: string[] = [];
  for (let at = start; at !== NONE; at = (flow.states[at] as FlowState).fallback) {
    const state = flow.states[at] as FlowState;
    if (names.length === CHAIN_SHOWN) return [...names, "…"];
    names.push(state.name);
    if (!canBeFull(state)) break;
  }
  return names;
}
