// What an MCP server of ours offers. The server itself knows tools, prompts and resources only from here.

import type { JsonObject } from "../../base/json.ts";
import type { ServerParts } from "../server-parts.ts";
import { agentTools } from "./agent-tools.ts";
import type { McpTool } from "./mcp-call.ts";
import type { McpPrompt } from "./mcp-prompt.ts";
import { packPrompts } from "./pack-prompts.ts";
import { completedPart, listResources, type PartOfUri, readResource, TEMPLATES } from "./run-resources.ts";
import { RUN_TOOLS } from "./run-tools.ts";

export interface Catalogue {
  /** In the order they are listed in, whoever may use them. */
  readonly tools: (parts: ServerParts) => readonly McpTool[];
  readonly prompts: (parts: ServerParts) => readonly McpPrompt[];
  readonly templates: readonly JsonObject[];
  readonly listResources: (
    parts: ServerParts,
    cursor: string | undefined,
  ) => Promise<{ readonly resources: readonly JsonObject[]; readonly nextCursor?: string }>;
  readonly readResource: (parts: ServerParts, uri: string) => Promise<JsonObject>;
  /** Values for a part of a template that begin as written, the most likely first. */
  readonly completedPart: (parts: ServerParts, part: PartOfUri) => Promise<readonly string[]>;
}

/** Runs, and what the registered packs have. */
export const runCatalogue: Catalogue = {
  tools: ({ side }) => [...RUN_TOOLS, ...agentTools(side)],
  prompts: ({ side }) => packPrompts(side),
  templates: TEMPLATES,
  ...{ listResources, readResource, completedPart },
};
