// A tool of a pack with what it is bound to: the one shape all tool adapters have, and the port over a set of
// them.

import type { Json, JsonObject } from "../../base/json.ts";
import type { CallContext, Clock, ToolAnswer, ToolPort } from "../../engine/ports.ts";

/** How much harm a call can do, from none to sending something out. */
export type Tier = "read" | "write" | "destructive" | "egress";

export interface BoundTool {
  readonly tier: Tier;
  /** After a crash the call may be made again with the same key (S46). */
  readonly safe: boolean;
  /** Its calls wait for a person (S31); decided by the configuration. */
  readonly gated?: boolean;
  /** How what it does is put back, told to whoever decides about a call. */
  readonly rollback?: string;
  /** What a model is told about a tool that the pack lists and does not define. */
  readonly definition?: { readonly description: string; readonly parameters: JsonObject };
  readonly call: (args: Json, context: CallContext) => Promise<ToolAnswer>;
  /** Ends what a call left going elsewhere. */
  readonly stop?: (context: CallContext) => Promise<void>;
}

/** What bindings may use of their surroundings. */
export interface Surroundings {
  /** The folder of the configuration: relative paths start there. */
  readonly folder: string;
  /** Where tools note what they did, beside the store of the runs; the folder's `.packloop` when left out. */
  readonly notes?: string;
  /** The folder a run works in; it exists. */
  readonly workspaceOf: (run: string) => Promise<string>;
  /** An environment variable; the only way to a secret. */
  readonly env: (name: string) => string | undefined;
  readonly clock: Clock;
}

/** Tools by the name packs call them; a map is one. */
export interface ToolsByName {
  get(name: string): BoundTool | undefined;
}

/** Names that are not among the tools go to `others`. */
export function toolPort(tools: ToolsByName, others: ToolPort): ToolPort {
  return {
    knows: (name) => tools.get(name) !== undefined || others.knows(name),
    isSafe: (name) => tools.get(name)?.safe ?? others.isSafe(name),
    call(name, args, context) {
      const tool = tools.get(name);
      if (tool === undefined) return others.call(name, args, context);
      context.trace?.note({ tier: tool.tier });
      return tool.call(args, context);
    },
    async stop(name, context) {
      const tool = tools.get(name);
      if (tool === undefined) await others.stop?.(name, context);
      else await tool.stop?.(context);
    },
  };
}

/** A tool's own failure: shown to the model, never retried (S47). */
export const toolError = (code: string, message: string): ToolAnswer => ({ ok: false, code, message });
