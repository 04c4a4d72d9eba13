// PP408: a workflow with a loop and without any budget.

import { components } from "../../../base/components.ts";
import type { Edit } from "../../diagnostic.ts";
import { addEntry } from "../../fix/edits.ts";
import { liveRows } from "../../flow/live-graph.ts";
import { CycleSearch } from "../../flow/shortest-cycle.ts";
import { nodeAt } from "../../read/tree.ts";
import { type CheckContext, onKey, type Rule } from "../rule.ts";
import { cycleText } from "../wording.ts";

export const noBudget: Rule = {
  code: "PP408",
  severity: "warning",
  fix: "unsafe",
  title: "loop without a budget",
  explain:
    "The workflow has a loop and sets no limit on the whole run. Guards bound how often states are " +
    "entered, not how many calls are made or how long a run takes. A budget is the safety net for what " +
    "nobody expected; `max_total_visits` a little above the worst case never disturbs a run that behaves.",
  bad: `
workflow:
  version: 2
  entry: work
  states:
    work:
      prompt_task: p
      max_visits: 3
      on_max_visits: give_up
      on_event: { Failed: work, Done: complete }
    complete: { prompt_task: p, terminal: true }
    give_up: { prompt_task: p, terminal: true }
`,
  good: `
workflow:
  version: 2
  entry: work
  engine: { budget: { max_total_visits: 5 } }
  states:
    work:
      prompt_task: p
      max_visits: 3
      on_max_visits: give_up
      on_event: { Failed: work, Done: complete }
    complete: { prompt_task: p, terminal: true }
    give_up: { prompt_task: p, terminal: true }
`,
  check: (context, report) => {
    if (context.analyses.length === 0 || mentionsBudget(context)) return;
    const names = firstCycle(context);
    if (names === undefined) return;
    const visits = worstVisits(context);
    const suggested = visits === null ? null : Math.ceil(visits * ROOM);
    report({
      at: onKey("workflow", "states", names[0] ?? ""),
      message: `${cycleText(names)} runs without a budget`,
      why:
        visits === null ? "nothing limits visits, calls or time" : "guards bound visits, not calls or time",
      help:
        suggested === null
          ? "add `engine.budget` with `max_total_visits`"
          : `add \`max_total_visits: ${suggested}\``,
      ...(suggested !== null && {
        fix: { title: `add \`max_total_visits: ${suggested}\``, edits: budgetEdits(context, suggested) },
      }),
      data: { cycle: names, visits, max_total_visits: suggested },
    });
  },
};

/** Room above the worst case, so that the budget catches surprises and nothing else. */
const ROOM = 1.2;

/** A budget that was refused by the shape phase is still one the author meant. */
function mentionsBudget({ program, root, isBroken }: CheckContext): boolean {
  const { budget } = program.workflow ?? {};
  if (budget !== undefined && Object.values(budget).some((limit) => limit !== null)) return true;
  const written = nodeAt(root, ["workflow", "engine", "budget"]);
  const isMeant = written !== undefined && (written.kind !== "map" || written.entries.length > 0);
  return isMeant || isBroken("workflow", "engine");
}

/** The shortest cycle through the first state in file order that is on one. */
function firstCycle({ flow, analyses }: CheckContext): readonly string[] | undefined {
  const rows = liveRows(flow, analyses);
  const found = components(rows);
  const search = new CycleSearch(rows, found);
  for (let state = 0; state < rows.count; state++) {
    const cycle = search.shortest({ nodes: [state], isWanted: () => true });
    if (cycle !== undefined) return cycle.map((step) => flow.states[step.node]?.name ?? "");
  }
  return undefined;
}

/** Over all entry points, since the budget holds for each of them; null when some run has no end. */
function worstVisits({ bounds }: CheckContext): number | null {
  let worst = 0;
  for (const { visits } of bounds) {
    if (visits === null) return null;
    worst = Math.max(worst, visits);
  }
  return worst;
}

function budgetEdits({ root, text }: CheckContext, visits: number): readonly Edit[] {
  const limit = `{ "max_total_visits": ${visits} }`;
  if (nodeAt(root, ["workflow", "engine", "budget"]) !== undefined) {
    return addEntry(root, text, ["workflow", "engine", "budget"], "max_total_visits", String(visits));
  }
  if (nodeAt(root, ["workflow", "engine"]) !== undefined) {
    return addEntry(root, text, ["workflow", "engine"], "budget", limit);
  }
  return addEntry(root, text, ["workflow"], "engine", `{ "budget": ${limit} }`);
}
