// PP512: an artifact that text from outside may have shaped reaches a state with a destructive tool.

import { toPointer } from "../../../base/json.ts";
import type { CheckContext, Report, Rule } from "../rule.ts";
import { type Taint, taintOf, trailTo, writing } from "../security/taint.ts";
import { type Site, visitedSites, workSites } from "../security/work-sites.ts";
import { listed } from "../wording.ts";
import { artifactFlow } from "./artifact-flow.ts";
import { placeOfUse } from "./text-map.ts";

export const untrustedFlow: Rule = {
  code: "PP512",
  severity: "warning",
  title: "outside text reaches a destructive tool",
  explain:
    "An artifact may hold text that third parties wrote: a state that writes it is offered a tool " +
    "returning such text, or reads another artifact of that kind. The state reported here shows the " +
    "artifact to the model and offers a tool whose effect cannot simply be put back, so an instruction " +
    "hidden in the text can steer the call. Let the tool wait for an approval, or pass the text through " +
    "a state that has no such tool.",
  bad: `
prompts:
  read: { id: read, name: Read, version: 1.0.0, system_template: "Read, emit Done.", tools: [http.fetch] }
  apply:
    id: apply
    name: Apply
    version: 1.0.0
    system_template: "Do what the page asks: {{artifacts.page_text}}"
    tools: [apply_config]
tools:
  http.fetch: { name: http_fetch, description: Fetches a page }
  apply_config: { name: apply_config, description: Changes a setting, action_scope: { effect: write } }
workflow:
  version: 2
  entry: read
  states:
    read:
      prompt_task: read
      on_event: { Done: apply }
      artifacts: { page_text: { type: text/plain } }
    apply: { prompt_task: apply, terminal: true, artifacts: { page_text: { type: text/plain } } }
`,
  good: `
prompts:
  read: { id: read, name: Read, version: 1.0.0, system_template: "Read, emit Done.", tools: [http.fetch] }
  report: { id: report, name: Report, version: 1.0.0, system_template: "Report on: {{artifacts.page_text}}" }
tools:
  http.fetch: { name: http_fetch, description: Fetches a page }
workflow:
  version: 2
  entry: read
  states:
    read:
      prompt_task: read
      on_event: { Done: report }
      artifacts: { page_text: { type: text/plain } }
    report: { prompt_task: report, terminal: true, artifacts: { page_text: { type: text/plain } } }
`,
  check: (context, report) => {
    const taint = taintOf(context, "outside");
    if (taint.carriers.size === 0) return;
    const said = new Set<string>();
    for (const site of visitedSites(context)) judge(context, report, { site, taint, said });
  },
};

interface Judging {
  readonly site: Site;
  readonly taint: Taint;
  /** States that share a prompt share its placeholder: one message is enough. */
  readonly said: Set<string>;
}

function judge(context: CheckContext, report: Report, { site, taint, said }: Judging): void {
  const { classes } = workSites(context);
  const reads = [...(artifactFlow(context).reads[site.state] ?? [])].filter(([name]) =>
    taint.carriers.has(name),
  );
  const [first] = reads;
  const sinks = site.tools.filter((tool) => classes(tool.name).destructive);
  if (first === undefined || sinks.length === 0) return;
  const [artifact, use] = first;
  const tools = [...new Set(sinks.map((tool) => tool.name))];
  const key = `${toPointer(use.path)} ${use.hole.start} ${tools.join(" ")}`;
  if (said.has(key)) return;
  said.add(key);
  const writer = taint.carriers.get(artifact) as number;
  const trail = trailTo(context, taint, writer);
  report({
    at: placeOfUse(context, use),
    message: `\`${artifact}\` from \`${trail.tool.name}\` reaches ${listed(tools)}`,
    why: "text from outside can steer the call",
    help: "gate the tool, or summarise in a state without it",
    related: [
      ...trail.passed,
      writing(context, writer, artifact),
      ...sinks.map((tool) => ({ at: tool.at, message: `\`${site.name}\` offers \`${tool.name}\`` })),
    ],
    data: {
      state: site.name,
      artifact,
      artifacts: reads.map(([name]) => name),
      source: trail.tool.name,
      tools,
    },
  });
}
