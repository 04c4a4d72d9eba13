// What a tool of our MCP server is, and what one call of it comes with.

import type { JsonObject } from "../../base/json.ts";
import type { Principal, Scope } from "../scope.ts";
import type { ServerParts } from "../server-parts.ts";

export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  readonly annotations: ToolHints;
  readonly meta?: JsonObject;
  /** One of these is needed. What a call asks for may need more. */
  readonly scopes: readonly Scope[];
  readonly call: (args: JsonObject, call: McpCall) => Promise<ToolOutcome>;
}

export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export type ToolOutcome =
  | { readonly kind: "value"; readonly value: JsonObject }
  /** The call is about this run: it is waited for, unless `wait` is false. */
  | { readonly kind: "run"; readonly run: string; readonly wait: boolean };

export interface McpCall {
  readonly parts: ServerParts;
  readonly principal: Principal;
  readonly client: ClientAbilities;
  readonly signal: AbortSignal;
  /** Of the call at its sender: the same one never starts a second run. */
  readonly key: string | undefined;
  /** Tells how far a run is; undefined where the client did not ask to be told. */
  readonly progress: ((turn: number, message: string) => Promise<void>) | undefined;
}

/** What the client declared with the request. */
export interface ClientAbilities {
  /** It can ask its user to fill in a form. */
  readonly elicits: boolean;
  readonly tasks: boolean;
}

/** Who is named in the journal where neither the call nor a token says. */
export const MCP_SPEAKER = "mcp";
