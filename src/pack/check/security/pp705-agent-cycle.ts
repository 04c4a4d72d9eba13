// PP705: agents of the pack can call each other in a circle.

import { shortestCycles } from "../cycles.ts";
import { onKey, type Rule } from "../rule.ts";
import { cycleText } from "../wording.ts";
import { type OfferedTool, sitesOfAgent, workSites } from "./work-sites.ts";

export const agentCycle: Rule = {
  code: "PP705",
  severity: "info",
  title: "agents call each other in a circle",
  explain:
    "Each call of an agent starts a run of its own, so agents that call each other can nest until the " +
    "depth limit stops them. That is allowed, and sometimes meant; every level pays for itself. Remove " +
    "one direction if the circle is not wanted.",
  bad: `
prompts:
  writer: { id: writer, name: Writer, version: 1.0.0, system_template: Write., tools: [researcher] }
  researcher: { id: researcher, name: Researcher, version: 1.0.0, system_template: Search., tools: [writer] }
agents:
  entry: writer
  members: { writer: { description: Writes }, researcher: { description: Looks things up } }
`,
  good: `
prompts:
  writer: { id: writer, name: Writer, version: 1.0.0, system_template: Write., tools: [researcher] }
  researcher: { id: researcher, name: Researcher, version: 1.0.0, system_template: Search. }
agents:
  entry: writer
  members: { writer: { description: Writes }, researcher: { description: Looks things up } }
`,
  check: (context, report) => {
    const members = Object.keys(context.pack.agents?.members ?? {});
    const sites = workSites(context);
    const calls = members.map((member) => {
      const made = new Map<string, OfferedTool>();
      for (const tool of sitesOfAgent(context, sites, member).flatMap((site) => site.tools)) {
        const called = sites.memberOf(tool.name);
        // A prompt that lists its own agent is PP208's to report.
        const own = called === member && tool.at.path[0] === "prompts" && tool.at.path[1] === member;
        if (called !== undefined && !own && !made.has(called)) made.set(called, tool);
      }
      return made;
    });
    const indexes = new Map(members.map((member, index) => [member, index]));
    const rows = calls.map((row) => [...row.keys()].map((called) => indexes.get(called) as number));
    for (const cycle of shortestCycles(rows)) {
      const names = cycle.map((member) => members[member] as string);
      report({
        at: onKey("agents", "members", names[0] as string),
        message: `${cycleText(names)} can nest`,
        why: "only the depth limit stops it",
        help: "remove one direction",
        related: cycle.map((member, index) => {
          const next = names[(index + 1) % names.length] as string;
          const tool = calls[member]?.get(next) as OfferedTool;
          return { at: tool.at, message: `\`${names[index]}\` calls \`${next}\`` };
        }),
        data: { agents: names },
      });
    }
  },
};
