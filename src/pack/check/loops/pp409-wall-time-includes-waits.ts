// PP409: a wall time limit that runs on while the run waits for a person.

import { onKey, onValue, type Rule } from "../rule.ts";
import { grouped, listed } from "../wording.ts";
import { waitsOf } from "./waits.ts";

export const wallTimeIncludesWaits: Rule = {
  code: "PP409",
  severity: "warning",
  title: "wall time includes waiting for people",
  explain:
    "`max_wall_time_sec` counts from the start of the run, waiting included. A run that waits in an " +
    "external state or for an approval may be ended while a person is still deciding. Raise the limit to " +
    "cover the wait, or set `engine.wall_clock: active`, which counts only the time the run is working.",
  bad: `
workflow:
  version: 2
  entry: propose
  engine: { budget: { max_wall_time_sec: 1800 } }
  states:
    propose: { prompt_task: p, on_event: { Proposed: await_approval } }
    await_approval: { prompt_task: p, orchestration: external, on_event: { Approved: done } }
    done: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: propose
  engine: { wall_clock: active, budget: { max_wall_time_sec: 1800 } }
  states:
    propose: { prompt_task: p, on_event: { Proposed: await_approval } }
    await_approval: { prompt_task: p, orchestration: external, on_event: { Approved: done } }
    done: { prompt_task: p, terminal: true }
`,
  check: (context, report) => {
    const { workflow } = context.program;
    const seconds = workflow?.budget.wallTimeSec ?? null;
    if (seconds === null || workflow?.wallClock === "active") return;
    if (context.isBroken("workflow", "engine", "wall_clock")) return;
    const { states, tools } = waitsOf(context);
    const waits = [
      ...(states.length > 0 ? [`in ${listed(states)}`] : []),
      ...(tools.length > 0 ? [`for approval of ${listed(tools)}`] : []),
    ];
    if (waits.length === 0) return;
    report({
      at: onValue("workflow", "engine", "budget", "max_wall_time_sec"),
      message: `${grouped(seconds)} s include the wait ${waits.join(" and ")}`,
      why: "wall time runs while a person thinks",
      help: "raise it, or set `engine.wall_clock: active`",
      related: states.map((state) => ({
        at: onKey("workflow", "states", state),
        message: `\`${state}\` waits`,
      })),
      data: { max_wall_time_sec: seconds, states, tools },
    });
  },
};
