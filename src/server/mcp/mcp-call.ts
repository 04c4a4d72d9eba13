// What a tool of our MCP server is, and what one call of it comes with.

import type { Json, JsonObject } from "../../base/json.ts";
import type { Principal, Scope } from "../scope.ts";
import type { ServerParts } from "../server-parts.ts";

export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Of its structured content, where it has some. */
  readonly outputSchema?: JsonObject;
  readonly annotations: ToolHints;
  readonly meta?: JsonObject;
  /** It makes no sense for a client that knows no tasks. */
  readonly needsTasks?: true;
  /** It wants input of the client by itself, and finds what came in `given`. */
  readonly asks?: true;
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
  | WantedInput
  | { readonly kind: "value"; readonly value: JsonObject }
  /** Blocks of the protocol: texts, pictures, resources. */
  | { readonly kind: "content"; readonly content: readonly JsonObject[] }
  /** The call is about this run: it is waited for, unless `wait` is false. */
  | { readonly kind: "run"; readonly run: string; readonly wait: boolean };

/** What the client is asked before there is a result; the call is made again with the responses. */
export interface WantedInput {
  readonly kind: "input";
  /** By names that the responses come under. */
  readonly requests: Readonly<Record<string, InputRequest>>;
  /** Comes back with the responses, as it is. */
  readonly state: Json;
}

export interface InputRequest {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params: JsonObject;
}

export type Responses = Readonly<Record<string, unknown>>;

export interface GivenInput {
  readonly responses: Responses;
  /** Undefined where the client sent none. */
  readonly state: Json | undefined;
}

export interface McpCall {
  readonly parts: ServerParts;
  readonly principal: Principal;
  readonly client: ClientAbilities;
  /** Which tool or prompt it is of: what is asked in one call is not answered in a call of another. */
  readonly of: string;
  readonly signal: AbortSignal;
  /** What came for an earlier wish of the same tool or prompt. */
  readonly given: GivenInput | undefined;
  /** Of the call at its sender: the same one never starts a second run. */
  readonly key: string | undefined;
  /** Tells how far a run is; undefined where the client did not ask to be told. */
  readonly progress: ((turn: number, message: string) => Promise<void>) | undefined;
}

/** What the client declared with the request. */
export interface ClientAbilities {
  /** It can ask its user to fill in a form. */
  readonly elicits: boolean;
  /** It can ask its user to open a page. */
  readonly opensPages: boolean;
  readonly tasks: boolean;
  /** Requests that it answers. */
  readonly answers: (method: InputRequest["method"]) => boolean;
}

/** Who is named in the journal where neither the call nor a token says. */
export const MCP_SPEAKER = "mcp";
