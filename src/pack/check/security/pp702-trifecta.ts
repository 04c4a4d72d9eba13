// PP702: one state joins private data, text from outside and a way out.

import type { CheckContext, Place, Report, Rule } from "../rule.ts";
import { type Taint, taintOf, trailTo } from "./taint.ts";
import { type Site, visitedSites, workSites } from "./work-sites.ts";

export const trifecta: Rule = {
  code: "PP702",
  severity: "warning",
  stricter: true,
  title: "private data, outside text and a way out in one state",
  explain:
    "A model cannot tell an instruction in what it reads from one of its author. Where it sees private " +
    "data, text that third parties can shape, and a tool that sends, a sentence in that text is enough " +
    "to carry the data away. Private data and outside text also arrive by artifacts the template reads " +
    "and by a kept conversation. Split the state so that no part has all three, or let the sending tool " +
    "wait for an approval.",
  bad: `
prompts:
  assist:
    id: assist
    name: Assist
    version: 1.0.0
    system_template: Answer the question.
    tools: [read_mail, http.fetch, post_message]
tools:
  http.fetch: { name: http_fetch, description: Fetches a page }
  read_mail: { name: read_mail, description: Mail, action_scope: { effect: read, data_classes: [personal] } }
  post_message:
    name: post_message
    description: Posts a message
    action_scope: { effect: external, reversibility: reversible }
`,
  good: `
prompts:
  assist:
    id: assist
    name: Assist
    version: 1.0.0
    system_template: Answer the question.
    tools: [read_mail]
tools:
  read_mail: { name: read_mail, description: Mail, action_scope: { effect: read, data_classes: [personal] } }
`,
  check: (context, report) => {
    const taints = { outside: taintOf(context, "outside"), private: taintOf(context, "private") };
    for (const site of visitedSites(context)) judge(context, report, { site, taints });
  },
};

interface Judging {
  readonly site: Site;
  readonly taints: Readonly<Record<"outside" | "private", Taint>>;
}

function judge(context: CheckContext, report: Report, { site, taints }: Judging): void {
  const { classes } = workSites(context);
  const ways = site.tools.filter((tool) => classes(tool.name).egress);
  // A tool that fetches also sends; one that only sends makes the clearer message.
  const way = ways.find((tool) => !classes(tool.name).outside) ?? ways[0];
  if (way === undefined) return;
  const held = legOf(context, site, { kind: "private", taint: taints.private });
  const read = legOf(context, site, { kind: "outside", taint: taints.outside });
  if (held === undefined || read === undefined) return;
  report({
    at: site.at,
    message:
      `\`${site.name}\` has private data from \`${held.tool}\`, ` +
      `outside text from \`${read.tool}\` and can send by \`${way.name}\``,
    why: "an instruction in the outside text can send the private data away",
    help: `split the ${site.kind}, or gate \`${way.name}\``,
    related: [
      { at: held.at, message: `private data: ${held.how}` },
      { at: read.at, message: `outside text: ${read.how}` },
      { at: way.at, message: `way out: \`${way.name}\`` },
    ],
    data: { [site.kind]: site.name, private: held.tool, outside: read.tool, egress: way.name },
  });
}

interface Leg {
  readonly tool: string;
  readonly at: Place;
  readonly how: string;
}

function legOf(
  context: CheckContext,
  site: Site,
  { kind, taint }: { kind: "outside" | "private"; taint: Taint },
): Leg | undefined {
  const { classes } = workSites(context);
  const tool = site.tools.find(({ name }) => classes(name)[kind]);
  if (tool !== undefined) return { tool: tool.name, at: tool.at, how: `\`${tool.name}\`` };
  const cause = taint.exposed.get(site.state);
  if (cause === undefined) return undefined;
  const trail = trailTo(context, taint, site.state);
  const last = trail.passed.at(-1);
  const via = cause.kind === "artifact" ? `artifact \`${cause.artifact}\`` : "the kept conversation";
  return { tool: trail.tool.name, at: last?.at ?? trail.tool.at, how: `\`${trail.tool.name}\` by ${via}` };
}
