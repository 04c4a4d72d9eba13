// PP403: an endless run whose cycle needs exhausted guards.

import type { Rule } from "../rule.ts";
import { counted, grouped, listed } from "../wording.ts";
import { type EndlessRun, endlessRuns } from "./endless-runs.ts";
import { guardFields } from "./guard-advice.ts";

export const redirectCycle: Rule = {
  code: "PP403",
  severity: "warning",
  stricter: true,
  title: "exhausted guards make an endless cycle",
  explain:
    "When a guard is exhausted, every event aimed at its state is redirected to `on_max_visits`. Here " +
    "that leads back to a state which sends the event again, so the guards that were meant to end the " +
    "loop keep it going: the unguarded states repeat for ever, or until a budget ends the run. The " +
    "related lines give the shortest such run. Guard one of the repeating states as well; the one named " +
    "in the advice was tried.",
  bad: `
workflow:
  version: 2
  entry: draft
  engine: { budget: { max_total_visits: 20 } }
  states:
    draft: { prompt_task: p, on_event: { Drafted: check } }
    check: { prompt_task: p, max_visits: 4, on_max_visits: publish, on_event: { Good: publish, Weak: draft } }
    publish: { prompt_task: p, on_event: { Published: end, Refused: check } }
    end: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: draft
  engine: { budget: { max_total_visits: 20 } }
  states:
    draft: { prompt_task: p, on_event: { Drafted: check } }
    check: { prompt_task: p, max_visits: 4, on_max_visits: publish, on_event: { Good: publish, Weak: draft } }
    publish:
      prompt_task: p
      max_visits: 2
      on_max_visits: end
      on_event: { Published: end, Refused: check }
    end: { prompt_task: p, terminal: true }
`,
  check: (context, report) => {
    const budget = context.program.workflow?.budget;
    const visitsMax = budget?.visitsMax ?? null;
    const wallTimeSec = budget?.wallTimeSec ?? null;
    const limits = [
      ...(visitsMax === null ? [] : [counted(visitsMax, "visit")]),
      ...(wallTimeSec === null ? [] : [`${grouped(wallTimeSec)} s`]),
    ];
    const stop = limits.length === 0 ? "" : `; only the budget ends it: ${limits.join(", ")}`;
    for (const run of endlessRuns(context, "redirected")) {
      const full = `${listed(run.fullGuards)} ${run.fullGuards.length === 1 ? "is" : "are"} exhausted`;
      report({
        at: run.at,
        message: `after ${full}, ${run.cycle} can repeat for ever`,
        why: `${redirects(run)}${run.waiting}${stop}`,
        help: guardFields(run.advice),
        related: [{ at: run.at, message: `the shortest such run: ${run.path}` }, ...run.legs],
        data: { ...run.data, max_total_visits: visitsMax, max_wall_time_sec: wallTimeSec },
      });
    }
  },
};

function redirects({ diverted }: EndlessRun): string {
  const [first, ...others] = diverted.map(({ event, state }) => ({
    event: `\`${event}\``,
    state: `\`${state}\``,
  }));
  const more = others.map(({ event, state }) => `, ${event} to ${state}`);
  return `${first?.event} is redirected by on_max_visits back to ${first?.state}${more.join("")}`;
}
