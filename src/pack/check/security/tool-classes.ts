// What a tool may do, for the rules about flow. Each answer comes from the first source that has one:
//
//   1. its binding in packloop.yaml: `tier` (read, write, destructive, egress), `outside`, `private`
//   2. its action_scope in the pack
//   3. the table below, by what it is bound to (`builtin: http`, `mcp`, `agent`) or a name like `http.fetch`
//
// A tool none of them knows raises nothing; with --strict it counts as outside and destructive.
//
//   bound to        outside  egress  destructive
//   fs git sql json    –        –        –        inside the run's workspace or read-only
//   human time         –        –        –
//   proc               –        –       yes       any program may do anything
//   http              yes      yes       –        others write the pages; an address can carry data away
//   notify             –       yes       –
//   mcp               yes       –        –        unless bound `private`
//   agent (remote)    yes      yes       –
//   http exec plugin   –        –        –        programs of the host: not known

import { get, isObject, type Json, type JsonObject } from "../../../base/json.ts";
import type { ActionScope } from "../../shape/generated/pack-file.ts";
import type { CheckContext } from "../rule.ts";

export interface ToolClasses {
  /** Returns content that third parties can shape. */
  readonly outside: boolean;
  readonly private: boolean;
  /** Can carry data out. */
  readonly egress: boolean;
  /** Changes something that cannot simply be put back. */
  readonly destructive: boolean;
}

type ToolClass = keyof ToolClasses;

export const harmless: ToolClasses = { outside: false, private: false, egress: false, destructive: false };

type Partly = { readonly [K in ToolClass]?: boolean };

const table: ReadonlyMap<string, Partly> = new Map<string, Partly>([
  ["fs", {}],
  ["git", {}],
  ["sql", {}],
  ["json", {}],
  ["human", {}],
  ["time", {}],
  ["proc", { destructive: true }],
  ["http", { outside: true, egress: true }],
  ["notify", { egress: true }],
  ["mcp", { outside: true }],
  ["agent", { outside: true, egress: true }],
]);

/** Classes of a tool that is not an agent of the pack itself. */
export function classesOf(context: CheckContext, tool: string): ToolClasses {
  const binding = bindingOf(context, tool);
  const scope = scopeOf(context, tool);
  const sources = [fromBinding(binding), fromScope(scope), fromTable(tool, binding)];
  if (sources.every((source) => source === undefined)) {
    return context.strict ? { ...harmless, outside: true, destructive: true } : harmless;
  }
  const first = (name: ToolClass): boolean => {
    for (const source of sources) if (source?.[name] !== undefined) return source[name];
    return false;
  };
  return {
    outside: first("outside"),
    private: first("private"),
    egress: first("egress"),
    destructive: first("destructive"),
  };
}

export function scopeOf({ pack }: CheckContext, tool: string): ActionScope | undefined {
  return pack.tools !== undefined && Object.hasOwn(pack.tools, tool)
    ? pack.tools[tool]?.action_scope
    : undefined;
}

/** A tool of an MCP server is bound with its server. */
export function bindingOf({ config }: CheckContext, tool: string): Json | undefined {
  const server = /^mcp__(.+?)__/.exec(tool)?.[1];
  return get(config.tools, tool) ?? (server === undefined ? undefined : get(config.tools, server));
}

const tiers: ReadonlyMap<string, Partly> = new Map<string, Partly>([
  ["read", { egress: false, destructive: false }],
  ["write", { egress: false, destructive: false }],
  ["destructive", { destructive: true }],
  ["egress", { egress: true }],
]);

function fromBinding(binding: Json | undefined): Partly | undefined {
  if (!isObject(binding)) return undefined;
  const tier = get(binding, "tier");
  const marks: { [K in ToolClass]?: boolean } = {
    ...(typeof tier === "string" ? tiers.get(tier) : undefined),
  };
  for (const name of ["outside", "private"] as const) {
    const mark = get(binding, name);
    if (typeof mark === "boolean") marks[name] = mark;
  }
  return Object.keys(marks).length === 0 ? undefined : marks;
}

function fromScope(scope: ActionScope | undefined): Partly | undefined {
  if (scope === undefined) return undefined;
  const { effect, reversibility, data_classes: dataClasses = [] } = scope;
  const changes = effect === undefined ? reversibility === "irreversible" : effect !== "read";
  return {
    ...(dataClasses.length > 0 && { private: true }),
    ...(effect === "external" && { egress: true }),
    ...((effect !== undefined || changes) && { destructive: changes && reversibility !== "reversible" }),
  };
}

function fromTable(tool: string, binding: Json | undefined): Partly | undefined {
  const kind = isObject(binding) ? kindOf(binding) : undefined;
  if (kind === "mcp" && get(binding, "private") === true) return {};
  if (binding !== undefined) return kind === undefined ? undefined : table.get(kind);
  const dot = tool.indexOf(".");
  return dot === -1 ? undefined : table.get(tool.slice(0, dot));
}

function kindOf(binding: JsonObject): string | undefined {
  const builtin = get(binding, "builtin");
  if (typeof builtin === "string") return builtin;
  return ["mcp", "agent"].find((kind) => Object.hasOwn(binding, kind));
}
