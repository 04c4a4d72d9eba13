// PP814: the declared autonomy leaves actions to people, yet a tool acts.

import { type CheckContext, onKey, onValue, type Rule } from "../rule.ts";
import { scopeOf } from "../security/tool-classes.ts";
import { type Site, sitesOfAgent, workSites } from "../security/work-sites.ts";
import { listed } from "../wording.ts";
import { governanceObjects } from "./governance-list.ts";

export const autonomy: Rule = {
  code: "PP814",
  severity: "warning",
  title: "autonomy level does not fit a tool",
  explain:
    "Under `suggests` a person acts on what the agent proposes, so a tool whose `action_scope` has the " +
    "effect `write` or `external` contradicts the declaration: calling it is acting. Raise the level to " +
    "`acts_with_approval` or beyond, correct the scope, or drop the tool.",
  bad: `
prompts:
  fix: { id: fix, name: Fix, version: 1.0.0, system_template: Propose a change., tools: [apply_config] }
tools:
  apply_config:
    name: apply_config
    description: Changes a setting
    action_scope: { effect: write, reversibility: reversible }
metadata:
  governance: { autonomy_level: suggests }
`,
  good: `
prompts:
  fix: { id: fix, name: Fix, version: 1.0.0, system_template: Propose a change., tools: [read_config] }
tools:
  read_config: { name: read_config, description: Reads a setting, action_scope: { effect: read } }
metadata:
  governance: { autonomy_level: suggests }
`,
  check: (context, report) => {
    for (const { agent, written, path } of governanceObjects(context)) {
      if (written.autonomy_level !== "suggests") continue;
      const acting = actingTools(context, agent);
      if (acting.length === 0) continue;
      const names = acting.map(({ name }) => name);
      const effects = [...new Set(acting.map(({ effect }) => effect))].join(" and ");
      report({
        at: onValue(...path, "autonomy_level"),
        message: `\`suggests\` with ${effects} ${names.length === 1 ? "tool" : "tools"} ${listed(names)}`,
        why: "the two declarations disagree",
        help: "raise one, or drop the tool",
        related: acting.map(({ name, effect }) => {
          return {
            at: onKey("tools", name, "action_scope", "effect"),
            message: `\`${name}\` has effect ${effect}`,
          };
        }),
        data: { level: "suggests", tools: names, agent: agent ?? null },
      });
    }
  },
};

interface Acting {
  readonly name: string;
  readonly effect: string;
}

function actingTools(context: CheckContext, agent: string | undefined): readonly Acting[] {
  const found = new Map<string, Acting>();
  for (const { name } of governedSites(context, agent).flatMap((site) => site.tools)) {
    const effect = scopeOf(context, name)?.effect;
    if (effect === "write" || effect === "external") found.set(name, { name, effect });
  }
  return [...found.values()];
}

/** An agent's level governs its own runs; the pack's governs all but prompts of agents with another level. */
function governedSites(context: CheckContext, agent: string | undefined): readonly Site[] {
  const sites = workSites(context);
  if (agent !== undefined) return sitesOfAgent(context, sites, agent);
  const members = context.pack.agents?.members ?? {};
  return [...sites.states, ...sites.alone].filter((site) => {
    if (site.kind === "state" || !Object.hasOwn(members, site.name)) return true;
    return (members[site.name]?.governance?.autonomy_level ?? "suggests") === "suggests";
  });
}
