// PP207: an agent, or the entry of all agents, is no prompt.

import { renameKey, replaceScalar } from "../../fix/edits.ts";
import { onKey, onValue, type Rule } from "../rule.ts";
import { asked, namesAt } from "./known-names.ts";

export const agentPrompt: Rule = {
  code: "PP207",
  severity: "error",
  fix: "unsafe",
  title: "agent has no prompt",
  explain:
    "An agent is a prompt that others may call: each key of `agents.members`, and `agents.entry`, is a " +
    "key of `prompts`. The card others see is built from that prompt. Correct the spelling, or add the " +
    "prompt.",
  bad: `
prompts:
  analyst: { id: analyst, name: Analyst, version: 1.0.0, system_template: Analyse the figures. }
agents:
  entry: analyst
  members:
    analyst: { description: Reads figures. }
    analyzer: { description: Reads them again. }
`,
  good: `
prompts:
  analyst: { id: analyst, name: Analyst, version: 1.0.0, system_template: Analyse the figures. }
agents:
  entry: analyst
  members:
    analyst: { description: Reads figures. }
`,
  check: (context, report) => {
    const { pack, root, text } = context;
    const prompts = namesAt(context, "prompts");
    const members = namesAt(context, "agents", "members");
    if (pack.agents === undefined || prompts === undefined || prompts.size === 0) return;
    for (const agent of members ?? []) {
      if (prompts.has(agent)) continue;
      const path = ["agents", "members", agent];
      const meant = prompts.guess(agent);
      const isFree = meant !== undefined && members?.has(meant) === false;
      report({
        at: onKey(...path),
        message: `agent \`${agent}\` has no prompt of that name`,
        why: "the card is built from it",
        help: "name a key of prompts, or add the prompt",
        ...(meant !== undefined && { label: asked(meant) }),
        ...(isFree && {
          fix: { title: `rename it to \`${meant}\``, edits: renameKey(root, text, path, meant) },
        }),
        data: { agent, suggestion: meant ?? null },
      });
    }
    const { entry } = pack.agents;
    // A member of that name has been reported.
    if (prompts.has(entry) || members?.has(entry) === true || context.isBroken("agents", "entry")) return;
    const meant = prompts.guess(entry);
    report({
      at: onValue("agents", "entry"),
      message: `agents.entry \`${entry}\` is not a prompt`,
      why: "requests from outside go to that prompt",
      help: "name a key of prompts, or add the prompt",
      ...(meant !== undefined && {
        label: asked(meant),
        fix: {
          title: `enter at \`${meant}\``,
          edits: replaceScalar(root, text, ["agents", "entry"], meant),
        },
      }),
      data: { agent: entry, suggestion: meant ?? null },
    });
  },
};
