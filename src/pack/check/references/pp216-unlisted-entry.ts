// PP216: the agent that takes requests from outside is not listed as an agent.

import { addEntry } from "../../fix/edits.ts";
import { onValue, type Rule } from "../rule.ts";
import { KnownNames, namesAt } from "./known-names.ts";

export const unlistedEntry: Rule = {
  code: "PP216",
  severity: "warning",
  fix: "unsafe",
  title: "agents.entry is not a member",
  explain:
    "RFC 0007 lets `agents.entry` name any prompt and takes it for a member; other tools want it listed " +
    "under `agents.members` and refuse the pack. List it, with `{}` when it needs no settings.",
  bad: `
prompts:
  chat: { id: chat, name: Chat, version: 1.0.0, system_template: Talk., tools: [clerk] }
  clerk: { id: clerk, name: Clerk, version: 1.0.0, system_template: Look things up. }
agents:
  entry: chat
  members:
    clerk: { description: Looks things up. }
`,
  good: `
prompts:
  chat: { id: chat, name: Chat, version: 1.0.0, system_template: Talk., tools: [clerk] }
  clerk: { id: clerk, name: Clerk, version: 1.0.0, system_template: Look things up. }
agents:
  entry: chat
  members:
    chat: { description: Talks to people. }
    clerk: { description: Looks things up. }
`,
  check: (context, report) => {
    const { pack, root, text } = context;
    const prompts = namesAt(context, "prompts");
    const members = namesAt(context, "agents", "members");
    if (pack.agents === undefined || members === undefined) return;
    const { entry } = pack.agents;
    if (members.has(entry) || prompts?.has(entry) !== true || context.isBroken("agents", "entry")) return;
    // A misspelt member has been reported.
    const meant = new KnownNames([entry]);
    if ([...members].some((member) => !prompts.has(member) && meant.guess(member) === entry)) return;
    report({
      at: onValue("agents", "entry"),
      message: `entry \`${entry}\` is not among members`,
      why: "RFC 0007 implies it, other tools refuse it",
      help: `add \`${entry}: {}\``,
      fix: {
        title: `add \`${entry}\` to members`,
        edits: addEntry(root, text, ["agents", "members"], entry, "{}"),
      },
      data: { entry },
    });
  },
};
