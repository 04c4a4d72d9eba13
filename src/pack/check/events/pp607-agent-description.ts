// PP607: an agent without a description, or two agents with the same one.

import { onKey, type Rule } from "../rule.ts";

export const agentDescription: Rule = {
  code: "PP607",
  severity: "info",
  title: "agent cannot be told apart",
  explain:
    "Models and other agents choose whom to call by the description on the agent's card. It is the " +
    "agent's own, or else that of its prompt. Without one, or with the same one twice, the choice is a " +
    "guess. Write one line about what this agent does and the others do not.",
  bad: `
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go on. }
agents:
  entry: p
  members: { p: {} }
`,
  good: `
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go on. }
agents:
  entry: p
  members: { p: { description: Answers questions about orders. } }
`,
  check: ({ pack, isBroken }, report) => {
    const firstWith = new Map<string, string>();
    for (const [name, member] of Object.entries(pack.agents?.members ?? {})) {
      const path = ["agents", "members", name];
      if (!Object.hasOwn(pack.prompts, name) || isBroken(...path, "description")) continue;
      if (isBroken("prompts", name, "description")) continue;
      const own = member.description?.trim() ?? "";
      const description = own === "" ? (pack.prompts[name]?.description?.trim() ?? "") : own;
      const first = firstWith.get(description);
      if (description === "") {
        report({
          at: onKey(...path),
          message: `agent \`${name}\` has no description`,
          why: "callers choose by it",
          help: "write one line",
          data: { agent: name },
        });
      } else if (first === undefined) {
        firstWith.set(description, name);
      } else {
        report({
          at: onKey(...path),
          message: `agents \`${first}\` and \`${name}\` have the same description`,
          why: "callers choose by it",
          help: "say what sets them apart",
          related: [{ at: onKey("agents", "members", first), message: `\`${first}\` is described so too` }],
          data: { agent: name, other: first, description },
        });
      }
    }
  },
};
