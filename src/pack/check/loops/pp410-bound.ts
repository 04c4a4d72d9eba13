// PP410: the worst case of every run, said when asked for.

import type { Bound, Verdict } from "../../flow/bound.ts";
import { type CheckContext, onValue, type Place, type Rule } from "../rule.ts";
import { counted, grouped } from "../wording.ts";

export const bound: Rule = {
  code: "PP410",
  severity: "info",
  title: "the worst case of a run",
  explain:
    "With `--bound` the worst case of runs from each entry point is reported: the most visits, model " +
    "calls and tool calls any run can make, and what bounds them. The numbers are separate maxima, not " +
    "one run. Lower a guard or a budget where they are higher than you want to pay for.",
  bad: `
workflow:
  version: 2
  entry: work
  engine: { budget: { max_total_visits: 5 } }
  states:
    work: { prompt_task: p, max_visits: 3, on_max_visits: done, on_event: { Failed: work, Done: done } }
    done: { prompt_task: p, terminal: true }
`,
  good: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
`,
  badConfig: "bound: true\n",
  check: (context, report) => {
    if (context.config.bound !== true || context.program.workflow === null) return;
    const several = context.bounds.length > 1;
    for (const one of context.bounds) {
      report({
        at: placeOf(context, one.entry),
        message: `${several ? `from \`${one.entry}\`: ` : ""}${limits(one)}`,
        why: `${reasons[one.verdict]}, ${one.exact ? "exact" : "an upper bound"}`,
        help: helps[one.verdict],
        data: {
          entry: one.entry,
          verdict: one.verdict,
          visits: one.visits,
          model_calls: one.modelCalls,
          tool_calls: one.toolCalls,
          wall_time_sec: one.wallTimeSec,
          exact: one.exact,
        },
      });
    }
  },
};

const reasons: Readonly<Record<Verdict, string>> = {
  guards: "bounded by guards",
  budget: "bounded by max_total_visits",
  time: "bounded by wall time only",
  unbounded: "not bounded",
  undecided: "not decided",
};

const helps: Readonly<Record<Verdict, string>> = {
  guards: "`--bound` shows the longest run",
  budget: "`--bound` shows a run that only the budget ends",
  time: "`--bound` shows a run that only the clock ends",
  unbounded: "`--bound` shows a run without end",
  undecided: "raise `--limit` to decide it",
};

function limits({ visits, modelCalls, toolCalls, wallTimeSec }: Bound): string {
  const figures = [
    { noun: "visit", most: visits },
    { noun: "model call", most: modelCalls },
    { noun: "tool call", most: toolCalls },
  ];
  const bounded = figures.flatMap(({ noun, most }) => (most === null ? [] : [counted(most, noun)]));
  if (wallTimeSec !== null) bounded.push(`${grouped(wallTimeSec)} s`);
  const open = figures.flatMap(({ noun, most }) => (most === null ? [`${noun}s`] : []));
  const parts = [
    ...(bounded.length > 0 ? [`at most ${bounded.join(", ")}`] : []),
    ...(open.length > 0 ? [`no limit on ${open.join(", ")}`] : []),
  ];
  return parts.join(", ");
}

/** The value that makes the state an entry point. */
function placeOf({ program }: CheckContext, entry: string): Place {
  if (program.workflow?.entry === entry) return onValue("workflow", "entry");
  const members = Object.entries(program.agents?.members ?? {});
  const member = members.find(([, { state }]) => state === entry)?.[0];
  return member === undefined ? onValue("workflow", "entry") : onValue("agents", "members", member, "state");
}
