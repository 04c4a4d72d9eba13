// What a run is started with beyond its pack, from its settings: which calls are gated, what the host's tools
// are, which limits hold. Asks the models and tools whether they are there before anything starts.

import { resolve } from "node:path";
import { readCassette } from "../adapter/cassette/cassette.ts";
import { beginCassette } from "../adapter/cassette/cassette-file.ts";
import type { Script } from "../adapter/script/read-script.ts";
import type { JsonObject } from "../base/json.ts";
import type { Limits } from "../core/facts.ts";
import type { StartInput } from "../core/input.ts";
import type { Program } from "../core/program.ts";
import { packLimits } from "../core/start.ts";
import { Fault } from "../engine/ports.ts";
import type { RunSettings } from "./run-settings.ts";
import { isScripted, type RunWorlds } from "./run-worlds.ts";
import type { ToolTerms } from "./world.ts";

export interface TermsRequest {
  readonly program: Program;
  readonly settings: RunSettings;
  readonly script: Script | undefined;
  /** A cassette to write, or to answer from. */
  readonly record?: string | undefined;
  readonly replay?: string | undefined;
  readonly limits: Partial<Limits>;
  /** Says what may be a mistake. */
  readonly warn: (line: string) => void;
}

export interface StartTerms {
  readonly input: Pick<StartInput, "gated" | "host" | "limits">;
  readonly setup: JsonObject;
}

/** Throws a `Fault` where something is missing. The settings have no problems: the caller looked. */
export async function startTerms(worlds: RunWorlds, request: TermsRequest): Promise<StartTerms> {
  const { program, settings, record, replay } = request;
  const { host, gated } =
    replay === undefined ? await liveTerms(worlds, request) : readCassette(replay).terms;
  const all = [...new Set([...settings.approvals, ...gated])];
  if (record !== undefined)
    beginCassette(record, { pack: { id: program.id, version: program.version }, host, gated: all });
  return {
    input: {
      gated: all,
      limits: tighter(program, settings.budgets, request.limits),
      ...(Object.keys(host).length > 0 && { host }),
    },
    setup: {
      settings: settings as unknown as JsonObject,
      ...(record !== undefined && { record: resolve(record) }),
      ...(replay !== undefined && { replay: resolve(replay) }),
    },
  };
}

async function liveTerms(
  worlds: RunWorlds,
  { program, settings, script, warn, limits }: TermsRequest,
): Promise<Pick<ToolTerms, "host" | "gated">> {
  const world = worlds.world(settings);
  const scripted = isScripted(settings, script);
  const unpriced = scripted ? [] : await world.checkModels(program);
  const costs = { ...packLimits(program), ...tighter(program, settings.budgets, limits) };
  if (unpriced.length > 0 && costs.costUsd !== null)
    warn(`no price is known for ${listed(unpriced)}, so max_cost_usd does not hold (give \`prices:\`)`);
  const { host, gated, unbound } = await world.toolTerms(program);
  const nobody = unbound.filter((tool) => !Object.hasOwn(script?.tools ?? {}, tool));
  // Whoever wrote a script knows which tools it calls.
  if (nobody.length === 0 || scripted) return { host, gated };
  const nameless = nobody.filter((tool) => !Object.hasOwn(program.tools, tool) && !RUNTIMES.test(tool));
  if (nameless.length > 0) throw undefinedTools(nameless);
  warn(`nothing is bound to ${listed(nobody)} (see docs/tools.md)`);
  return { host, gated };
}

/** Tools that a runtime brings along under names of their own; packs list them without defining them. */
const RUNTIMES = /^(?:mcp|a2a|skill|memory)__/;

/** PP209: neither the pack nor its settings say what it is, so a model could only ever fail to call it. */
const undefinedTools = (tools: readonly string[]): Fault =>
  new Fault(
    "unbound-tool",
    `nothing is known of ${listed(tools)} (define it in the pack's tools, or bind it under \`tools:\` in packloop.yaml)`,
    { retry: "never" },
  );

const listed = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

/** The configuration's budgets where they are tighter than the pack's; the caller's are taken at their word. */
function tighter(program: Program, budgets: Partial<Limits>, given: Partial<Limits>): Partial<Limits> {
  const pack = packLimits(program);
  const limits: Record<string, number> = {};
  for (const [key, value] of Object.entries(budgets)) {
    const own = pack[key as keyof Limits];
    if (value !== null && (own === null || value < own)) limits[key] = value;
  }
  for (const [key, value] of Object.entries(given))
    if (value !== null) limits[key] = Math.min(value, limits[key] ?? value);
  return limits;
}
