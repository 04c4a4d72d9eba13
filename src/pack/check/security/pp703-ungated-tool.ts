// PP703: a destructive tool can run before any person was asked.

import { NONE } from "../../../core/flow.ts";
import { explore } from "../../flow/explore.ts";
import { staticRows } from "../../flow/static-graph.ts";
import { type CheckContext, onKey, type Rule } from "../rule.ts";
import { scopeOf } from "./tool-classes.ts";
import { type OfferedTool, type Site, workSites } from "./work-sites.ts";

export const ungatedTool: Rule = {
  code: "PP703",
  severity: "warning",
  stricter: true,
  title: "destructive tool without approval",
  explain:
    "The tool changes something that cannot simply be put back, it waits for no approval, and some run " +
    "can call it before it has stopped at an external state. Name the tool under `approvals` in " +
    "`packloop.yaml`, declare the autonomy level `acts_with_approval`, which gates external and " +
    "irreversible tools, or put an external state on every path to it. A tool that only reads, or whose " +
    "effect is reversible, should say so in its `action_scope`.",
  bad: `
prompts:
  fix: { id: fix, name: Fix, version: 1.0.0, system_template: Restart what hangs., tools: [restart_service] }
tools:
  restart_service:
    name: restart_service
    description: Restarts a service
    action_scope: { effect: write, reversibility: irreversible }
`,
  good: `
prompts:
  fix: { id: fix, name: Fix, version: 1.0.0, system_template: Restart what hangs., tools: [restart_service] }
tools:
  restart_service:
    name: restart_service
    description: Restarts a service
    action_scope: { effect: write, reversibility: irreversible }
metadata:
  governance: { autonomy_level: acts_with_approval }
`,
  check: (context, report) => {
    const { states, alone, memberOf, classes } = workSites(context);
    const destroys = ({ name }: OfferedTool) => memberOf(name) === undefined && classes(name).destructive;
    if (![...states, ...alone].some((site) => site.tools.some(destroys))) return;
    const found = new Map<string, { tool: OfferedTool; sites: Site[] }>();
    for (const site of sitesBeforeAnyWait(context)) {
      for (const tool of site.tools.filter(destroys)) {
        const entry = found.get(tool.name) ?? { tool, sites: [] };
        if (!entry.sites.includes(site)) entry.sites.push(site);
        found.set(tool.name, entry);
      }
    }
    for (const [name, { tool, sites }] of found) {
      report({
        at: context.exists("tools", name) ? onKey("tools", name) : tool.at,
        message: `\`${name}\` runs without approval`,
        why: reasonOf(context, name),
        help: "gate the tool, or put an external state before it",
        related: sites.slice(0, SITES_SHOWN).map((site) => {
          return { at: site.at, message: `${site.kind} \`${site.name}\` offers it` };
        }),
        data: { tool: name, sites: sites.map((site) => site.name) },
      });
    }
  },
};

const SITES_SHOWN = 4;

function reasonOf(context: CheckContext, tool: string): string {
  switch (scopeOf(context, tool)?.reversibility) {
    case "irreversible":
      return "it cannot be undone";
    case "compensable":
      return "its effect can be made up for, but not undone";
    default:
      return "nothing says that it can be undone";
  }
}

/** Sites a run can come to without having waited at an external state, agents they call included. */
function sitesBeforeAnyWait(context: CheckContext): readonly Site[] {
  const sites = workSites(context);
  const { states, alone, memberOf } = sites;
  if (context.pack.workflow === undefined) return alone;
  const reached = statesBeforeAnyWait(context);
  const found = new Set(states.filter((site) => reached.has(site.state)));
  const called = new Set(
    [...states, ...alone].flatMap((site) => site.tools.map((tool) => memberOf(tool.name))),
  );
  for (const site of alone) {
    // An agent that nothing in the pack calls, or that is the entry, is called from outside.
    if (site.name === context.pack.agents?.entry || !called.has(site.name)) found.add(site);
  }
  const aloneByName = new Map(alone.map((site) => [site.name, site]));
  for (const site of found) {
    for (const tool of site.tools) {
      const agent = aloneByName.get(memberOf(tool.name) ?? "");
      if (agent !== undefined) found.add(agent);
    }
  }
  return [...found];
}

function statesBeforeAnyWait(context: CheckContext): ReadonlySet<number> {
  const { flow, analyses } = context;
  const closed = new Set<number>();
  for (const [index, state] of flow.states.entries()) if (state.external) closed.add(index);
  const reached = new Set<number>();
  for (const analysis of analyses) {
    for (const state of closed.size === 0
      ? analysis.reachable
      : openStates(context, analysis.start, closed)) {
      reached.add(state);
    }
  }
  return reached;
}

function openStates(
  { flow, analyses }: CheckContext,
  start: number,
  closed: ReadonlySet<number>,
): Iterable<number> {
  if (analyses.every((analysis) => analysis.exact)) {
    const exploration = explore(flow, start, { closed });
    if (exploration.complete) return exploration.stateOf;
  }
  const { offsets, targets } = staticRows(flow);
  const seen = new Set(start === NONE || closed.has(start) ? [] : [start]);
  for (const state of seen) {
    for (let e = offsets[state] as number; e < (offsets[state + 1] as number); e++) {
      const target = targets[e] as number;
      if (!closed.has(target)) seen.add(target);
    }
  }
  return seen;
}
