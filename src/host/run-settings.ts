// The part of packloop.yaml that a run works with: models, tools, approvals, budgets, workspace. Plain data:
// it is kept with the run, so that `resume` needs no flags. Secrets are never in it, only where they are.

import { type OptionProblem, OptionReader } from "../adapter/tool/option-reader.ts";
import { isObject, type Json, type JsonObject, put } from "../base/json.ts";
import type { Limits } from "../core/facts.ts";
import { readTelemetry, type TelemetrySettings } from "./telemetry-settings.ts";

export interface RunSettings {
  /** The folder of packloop.yaml: relative paths start there. */
  readonly folder: string;
  /** `anthropic/claude-sonnet-5`, or a mapping with `provider`. */
  readonly model: Json;
  /** Models for the keys of the pack's `requires.providers`. */
  readonly providers: JsonObject;
  readonly prices: JsonObject;
  /** Where tools work; without it every run gets a folder of its own beside the store. */
  readonly workspace: string | null;
  readonly tools: Readonly<Record<string, JsonObject>>;
  readonly approvals: readonly string[];
  readonly budgets: Partial<Limits>;
  /** Names of environment variables whose values never enter a journal. */
  readonly secrets: readonly string[];
  /** Of the command that drives the run; a server, or a worker, has its own. */
  readonly telemetry?: TelemetrySettings;
}

export interface ReadSettings {
  readonly settings: RunSettings;
  readonly problems: readonly OptionProblem[];
}

/** Sections of the file that others read: the checker, the server. */
const OTHERS = ["server", "retention", "waits", "check"];

/** Names of budgets in packs and settings, and the limits they set. */
export const BUDGETS: Readonly<Record<string, keyof Limits>> = {
  max_total_visits: "visits",
  max_tool_calls: "toolCalls",
  max_wall_time_sec: "wallMs",
  max_model_calls: "modelCalls",
  max_input_tokens: "inputTokens",
  max_output_tokens: "outputTokens",
  max_cost_usd: "costUsd",
};

export function readRunSettings(value: JsonObject, folder: string): ReadSettings {
  const reader = new OptionReader(value, []);
  for (const key of OTHERS) reader.any(key);
  const model = reader.any("model") ?? null;
  if (model !== null && typeof model !== "string" && !isObject(model))
    reader.wrong("model", "`model` is a text like `anthropic/claude-sonnet-5`, or a mapping with `provider`");
  const telemetry = readTelemetry(reader.section("telemetry"));
  const settings: RunSettings = {
    folder,
    model,
    providers: reader.object("providers") ?? {},
    prices: reader.object("prices") ?? {},
    workspace: reader.text("workspace") ?? null,
    tools: readTools(reader),
    approvals: reader.texts("approvals") ?? [],
    budgets: readBudgets(reader.section("budgets")),
    secrets: reader.texts("secrets") ?? [],
    ...(telemetry !== undefined && { telemetry }),
  };
  reader.end();
  return { settings, problems: reader.problems };
}

function readTools(reader: OptionReader): Readonly<Record<string, JsonObject>> {
  const tools: Record<string, JsonObject> = {};
  for (const [name, binding] of Object.entries(reader.object("tools") ?? {})) {
    if (isObject(binding)) put(tools, name, binding);
    else
      reader.wrong("tools", `the binding of \`${name}\` is a mapping, such as \`{ builtin: fs, op: read }\``);
  }
  return tools;
}

export function readBudgets(section: OptionReader | undefined): Partial<Limits> {
  const limits: Record<string, number> = {};
  for (const [name, key] of Object.entries(BUDGETS)) {
    const limit = section?.number(name, { least: 0, most: Number.MAX_SAFE_INTEGER });
    if (limit !== undefined) limits[key] = key === "wallMs" ? limit * 1000 : limit;
  }
  section?.end();
  return limits;
}

/** Settings as a run remembers them. */
export function settingsIn(setup: JsonObject): RunSettings | undefined {
  const kept = setup["settings"];
  return isObject(kept) ? (kept as unknown as RunSettings) : undefined;
}

export const noSettings = (folder: string): RunSettings => readRunSettings({}, folder).settings;
