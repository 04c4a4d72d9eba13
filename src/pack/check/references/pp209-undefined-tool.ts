// PP209: a tool that nothing in the pack or its configuration defines.

import type { Path } from "../../../base/json.ts";
import type { PackFile } from "../../shape/generated/pack-file.ts";
import { onValue, type Rule } from "../rule.ts";
import { asked, KnownNames, namesAt } from "./known-names.ts";
import { placedSteps } from "./step-places.ts";

/** Supplied by servers, skills and memory of the host; a star stands for all tools of a server. */
const HOSTED = /^(?:mcp|skill|memory)__/;
/** The runtime answers these itself (S17). */
const RUNTIME: ReadonlySet<string> = new Set(["workflow__transition", "workflow__set_artifact"]);
const AGENT_PREFIX = "a2a__";
const ANY_AGENT = `${AGENT_PREFIX}*`;

export const undefinedTool: Rule = {
  code: "PP209",
  severity: "warning",
  stricter: true,
  title: "tool is defined nowhere",
  explain:
    "A tool that a prompt or a step lists must be a key of `tools`, an agent of the pack, a tool of an " +
    "MCP server (`mcp__server__tool`), or bound in `packloop.yaml`. A host may supply it, so this is a " +
    "warning; a run refuses to start until something does. Define the tool, bind it, or correct the name.",
  bad: `
prompts:
  help: { id: help, name: Help, version: 1.0.0, system_template: Open a ticket., tools: [create_ticket] }
`,
  good: `
prompts:
  help: { id: help, name: Help, version: 1.0.0, system_template: Open a ticket., tools: [create_ticket] }
tools:
  create_ticket: { name: create_ticket, description: Opens a ticket. }
`,
  check: (context, report) => {
    const tools = namesAt(context, "tools");
    const members = namesAt(context, "agents", "members");
    if (tools === undefined || members === undefined) return;
    const bound = Object.keys(context.config.tools);
    const agents = new KnownNames([...members, ...[...members].map((member) => AGENT_PREFIX + member)]);
    const known = new KnownNames([...tools, ...bound, ...RUNTIME]);
    for (const { tool, path } of toolUses(context.pack)) {
      if (known.has(tool) || agents.has(tool) || HOSTED.test(tool)) continue;
      if (tool === ANY_AGENT && agents.size > 0) continue;
      const meant = agents.guess(tool) ?? known.guess(tool);
      report({
        at: onValue(...path),
        message: `\`${tool}\` is defined nowhere`,
        why: "a run refuses to start until it is bound",
        help: "define it in tools, or bind it in packloop.yaml",
        ...(meant !== undefined && { label: asked(meant) }),
        data: { tool, suggestion: meant ?? null },
      });
    }
  },
};

interface ToolUse {
  readonly tool: string;
  readonly path: Path;
}

function* toolUses(pack: PackFile): Generator<ToolUse> {
  for (const [name, prompt] of Object.entries(pack.prompts)) {
    const blocked = prompt.tool_policy?.blocklist ?? [];
    yield* listed(prompt.tools ?? [], ["prompts", name, "tools"], blocked);
  }
  for (const { step, path } of placedSteps(pack)) {
    // The shape phase fills in an empty name where there is none.
    if (step.kind === "tool" && step.tool !== "") yield { tool: step.tool, path: [...path, "tool"] };
    if (step.kind === "agent") yield* listed(step.tools ?? [], [...path, "tools"], []);
  }
}

/** A tool listed twice is one mistake, and one that is blocked is never offered. */
function* listed(tools: readonly string[], path: Path, blocked: readonly string[]): Generator<ToolUse> {
  const seen = new Set(blocked);
  for (const [index, tool] of tools.entries()) {
    if (!seen.has(tool)) yield { tool, path: [...path, index] };
    seen.add(tool);
  }
}
