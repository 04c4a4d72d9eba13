// PP414: a guard that fires in no run at all.

import { isGuarded } from "../../../core/flow.ts";
import { longest, TABLE_ENTRIES_MAX } from "../../flow/longest.ts";
import { staticComponents } from "../../flow/static-graph.ts";
import { isGraphWhole } from "../graph/graph-facts.ts";
import { statesWithoutEvents } from "../graph/silent-ends.ts";
import { type CheckContext, onKey, type Rule } from "../rule.ts";
import { counted, grouped, listed } from "../wording.ts";
import { firstFullAttempt } from "./guard-attempts.ts";

export const idleGuard: Rule = {
  code: "PP414",
  severity: "info",
  title: "guard never fires",
  explain:
    "No run ever tries to enter this state once more than `max_visits` allows: other guards end the loop " +
    "first, or the state is in no loop. The guard documents an intention that is not at work. Remove it, " +
    "or lower it until it acts.",
  bad: `
workflow:
  version: 2
  entry: implement
  engine: { budget: { max_total_visits: 25 } }
  states:
    implement: { prompt_task: p, max_visits: 10, on_max_visits: done, on_event: { Written: test } }
    test:
      prompt_task: p
      max_visits: 12
      on_max_visits: done
      on_event: { Failed: implement, Passed: done }
    done: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: implement
  engine: { budget: { max_total_visits: 25 } }
  states:
    implement: { prompt_task: p, max_visits: 10, on_max_visits: done, on_event: { Written: test } }
    test: { prompt_task: p, on_event: { Failed: implement, Passed: done } }
    done: { prompt_task: p, terminal: true }
`,
  check: (context, report) => {
    const { flow, analyses } = context;
    if (!isGraphWhole(context) || analyses.some((analysis) => !analysis.exact)) return;
    const silent = new Set(statesWithoutEvents(context).map(({ name }) => name));
    const idle: number[] = [];
    for (const [index, state] of flow.states.entries()) {
      if (!isGuarded(state) || silent.has(state.name)) continue;
      if (!analyses.some((analysis) => analysis.reachable.has(index))) continue;
      if (firstFullAttempt(context, index).visits === Infinity) idle.push(index);
    }
    const stoppers = idle.length === 0 ? () => [] : actingNearby(context);
    for (const index of idle) {
      const { name, terminal, visitsMax } = flow.states[index] as {
        name: string;
        terminal: boolean;
        visitsMax: number;
      };
      const visits = mostVisits(context, index, idle.length);
      const others = stoppers(index);
      report({
        at: onKey("workflow", "states", name, "max_visits"),
        message: `guard of \`${name}\` never fires`,
        why: terminal ? "the run ends there, so no run enters it twice" : reason(visits, others),
        help:
          visits === undefined || visits < 2
            ? "remove it"
            : `remove it, or lower it below ${grouped(visits)}`,
        data: { state: name, max_visits: visitsMax, visits: visits ?? null, stopped_by: others },
      });
    }
  },
};

function reason(visits: number | undefined, others: readonly string[]): string {
  const stopped =
    others.length === 0 ? "" : `${listed(others)} ${others.length === 1 ? "stops" : "stop"} the loop first`;
  if (visits === undefined) return stopped === "" ? "no run comes back to it often enough" : stopped;
  const most =
    visits < 2 ? "no run enters it twice" : `no run enters it more than ${counted(visits, "time")}`;
  return stopped === "" || visits < 2 ? most : `${stopped}, ${most}`;
}

/** Guards that do act, in the same loop. */
function actingNearby(context: CheckContext): (state: number) => readonly string[] {
  const { flow } = context;
  const { of } = staticComponents(flow);
  const acting = new Map<number, string[]>();
  for (const [index, state] of flow.states.entries()) {
    if (!isGuarded(state) || firstFullAttempt(context, index).visits === Infinity) continue;
    const component = of[index] as number;
    acting.set(component, [...(acting.get(component) ?? []), state.name]);
  }
  return (state) => acting.get(of[state] as number) ?? [];
}

/** The most visits of a state in any run, where that is affordable for all states asked about. */
function mostVisits({ analyses }: CheckContext, state: number, asked: number): number | undefined {
  const size = analyses.reduce((sum, { graph }) => sum + graph.exploration.count, 0);
  if (size * asked > TABLE_ENTRIES_MAX) return undefined;
  return Math.max(...analyses.map(({ graph }) => longest(graph, (other) => (other === state ? 1 : 0))));
}
