// The pipelines an agent needs, one for each tool it may call, as text to paste; and what the tools'
// manifests say of their input. Nothing is added to a configuration unasked.

import { stringify } from "yaml";
import type { JsonObject } from "../../base/json.ts";
import type { PluginManifest } from "../../process/plugin-manifest.ts";

export interface ToolPlugin {
  readonly name: string;
  /** Undefined when it is not installed. */
  readonly manifest: PluginManifest | undefined;
}

export function toolPipelines(agent: string, tools: readonly ToolPlugin[]): string {
  const pipelines = tools.map(({ name }) => ({
    name: `agentic-tool-${name}`,
    on: `agentic.tool_request.${name}`,
    max_depth: 0,
    steps: [
      {
        id: "tool",
        uses: name,
        baggage: Object.fromEntries(
          ["run_id", "step", "tool", "attempt"].map((key) => [`agentic.${key}`, `payload.${key}`]),
        ),
      },
      { id: "resume", uses: agent },
    ],
  }));
  const described = tools.flatMap(({ name, manifest }): [string, JsonObject][] => {
    const handle = manifest?.commands.get("handle");
    const description = handle?.description ?? manifest?.description;
    if (description === undefined && handle?.inputSchema === undefined) return [];
    return [
      [
        name,
        {
          ...(description !== undefined && { description }),
          ...(handle?.inputSchema !== undefined && { input_schema: handle.inputSchema }),
        },
      ],
    ];
  });
  const text = stringify({ pipelines }, { lineWidth: 0 });
  if (described.length === 0) return text;
  const config = { plugins: { [agent]: { config: { tools: Object.fromEntries(described) } } } };
  const comment = stringify(config, { lineWidth: 0 }).trimEnd().replaceAll(/^/gm, "# ");
  return `${text}\n# For the configuration of ${agent}, what the manifests of its tools say:\n${comment}\n`;
}
