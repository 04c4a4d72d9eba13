// What a prompt of our MCP server is. Whoever may read runs may read prompts.

import type { JsonObject } from "../../base/json.ts";
import type { McpCall, WantedInput } from "./mcp-call.ts";

export interface McpPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  readonly meta?: JsonObject;
  /** Clients have nothing but texts for arguments. */
  readonly get: (args: Readonly<Record<string, string>>, call: McpCall) => Promise<PromptOutcome>;
  /** Values that an argument may have; none where every value is as good. */
  readonly valuesOf: (argument: string) => readonly string[];
}

export interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
}

export type PromptOutcome =
  | WantedInput
  | { readonly kind: "messages"; readonly messages: readonly JsonObject[] };
