// PP404: following `on_max_visits` among guarded states comes back to where it began.

import { type Flow, type FlowState, isGuarded } from "../../../core/flow.ts";
import { replaceScalar } from "../../fix/edits.ts";
import { stepsToEnd } from "../../flow/exits.ts";
import { onKey, onValue, type Rule } from "../rule.ts";
import { cycleText } from "../wording.ts";
import { fallbackCircles } from "./forced-exits.ts";

export const fallbackCircle: Rule = {
  code: "PP404",
  severity: "warning",
  stricter: true,
  fix: "unsafe",
  title: "on_max_visits leads in a circle of guarded states",
  explain:
    "When a guard is full the run goes to its `on_max_visits`, and from there on while that state is full " +
    "too. This chain returns to its own beginning without meeting an unguarded state, so once all of them " +
    "are full the run ends with status `budget_exhausted`. Runtimes that follow one step only would enter " +
    "a state beyond its limit. Let one of the states fall back to an unguarded one.",
  bad: `
workflow:
  version: 2
  entry: a
  engine: { budget: { max_total_visits: 9 } }
  states:
    a: { prompt_task: p, max_visits: 2, on_max_visits: b, on_event: { Next: b } }
    b: { prompt_task: p, max_visits: 2, on_max_visits: a, on_event: { Next: a, Done: end } }
    end: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: a
  engine: { budget: { max_total_visits: 9 } }
  states:
    a: { prompt_task: p, max_visits: 2, on_max_visits: end, on_event: { Next: b } }
    b: { prompt_task: p, on_event: { Next: a, Done: end } }
    end: { prompt_task: p, terminal: true }
`,
  check: ({ flow, root, text }, report) => {
    const circles = fallbackCircles(flow);
    if (circles.length === 0) return;
    const steps = stepsToEnd(flow);
    for (const circle of circles) {
      const names = circle.map((state) => flow.states[state]?.name ?? "");
      const [first = "", ...others] = names;
      const path = ["workflow", "states", first, "on_max_visits"];
      const exit = openExit(flow, circle[0] as number, steps);
      report({
        at: onValue(...path),
        message: `${cycleText(names)}: on_max_visits never leaves exhausted states`,
        why: "once all are full the run ends `budget_exhausted`; other runtimes enter beyond the limit",
        help: "point one at an unguarded state",
        related: others.map((name, i) => {
          const message = `\`${name}\` falls back to \`${names[i + 2] ?? first}\``;
          return { at: onKey("workflow", "states", name, "on_max_visits"), message };
        }),
        ...(exit !== undefined && {
          fix: {
            title: `let \`${first}\` fall back to \`${exit}\``,
            edits: replaceScalar(root, text, path, exit),
          },
        }),
        data: { circle: names, exit: exit ?? null },
      });
    }
  },
};

/** The nearest state that can always be entered and from which a run comes to an end. */
function openExit(flow: Flow, start: number, steps: readonly number[]): string | undefined {
  const seen = new Set([start]);
  const queue = [start];
  for (let head = 0; head < queue.length; head++) {
    const state = flow.states[queue[head] as number] as FlowState;
    if (!isGuarded(state) && steps[queue[head] as number] !== Infinity) return state.name;
    for (const { target } of state.events) {
      if (seen.has(target)) continue;
      seen.add(target);
      queue.push(target);
    }
  }
  return undefined;
}
