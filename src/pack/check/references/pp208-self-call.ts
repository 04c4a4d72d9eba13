// PP208: a prompt may call itself as an agent.

import { removeAt } from "../../fix/edits.ts";
import { onValue, type Rule } from "../rule.ts";
import { namesAt } from "./known-names.ts";

export const selfCall: Rule = {
  code: "PP208",
  severity: "warning",
  fix: "unsafe",
  title: "agent may call itself",
  explain:
    "The prompt lists its own agent among its tools. Every such call opens another run of the same agent, " +
    "which may call itself again; only the depth limit stops that. Remove the tool, or let a workflow " +
    "state lead back.",
  bad: `
prompts:
  triage: { id: triage, name: Triage, version: 1.0.0, system_template: Sort it., tools: [find, triage] }
tools:
  find: { name: find, description: Finds a customer. }
agents:
  entry: triage
  members:
    triage: { description: Sorts a request. }
`,
  good: `
prompts:
  triage: { id: triage, name: Triage, version: 1.0.0, system_template: Sort it., tools: [find] }
tools:
  find: { name: find, description: Finds a customer. }
agents:
  entry: triage
  members:
    triage: { description: Sorts a request. }
`,
  check: (context, report) => {
    const { pack, root, text } = context;
    const members = namesAt(context, "agents", "members");
    if (members === undefined || members.size === 0) return;
    for (const [name, prompt] of Object.entries(pack.prompts)) {
      if (!members.has(name)) continue;
      const blocked = new Set(prompt.tool_policy?.blocklist ?? []);
      for (const [index, tool] of (prompt.tools ?? []).entries()) {
        if ((tool !== name && tool !== `a2a__${name}`) || blocked.has(tool)) continue;
        const path = ["prompts", name, "tools", index];
        report({
          at: onValue(...path),
          message: `agent \`${name}\` may call itself`,
          why: "every call opens another run",
          help: "remove the tool",
          fix: { title: "remove the tool", edits: removeAt(root, text, path) },
          data: { agent: name, tool },
        });
      }
    }
  },
};
