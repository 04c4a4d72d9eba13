// What a run is started with beyond its pack: the settings of packloop.yaml, flags over them, and what that
// means for its tools. Everything that is wrong is said before anything starts.

import { resolve } from "node:path";
import type { Script } from "../../adapter/script/read-script.ts";
import type { OptionProblem } from "../../adapter/tool/option-reader.ts";
import type { Limits } from "../../core/facts.ts";
import type { Program } from "../../core/program.ts";
import { Fault } from "../../engine/ports.ts";
import { type RunSettings, readRunSettings } from "../../host/run-settings.ts";
import type { RunWorlds } from "../../host/run-worlds.ts";
import { startTerms as hostTerms, type StartTerms } from "../../host/start-terms.ts";
import { type Config, configFor } from "../config.ts";
import { ExitError, exits, faultError, usageError } from "../exit.ts";
import { note } from "../output.ts";

export interface SettingFlags {
  readonly config?: string;
  readonly model?: string;
  readonly record?: string;
  readonly replay?: string;
}

export interface RunConfig {
  readonly settings: RunSettings;
  readonly file: Config;
}

/** `--model`, then PACKLOOP_MODEL, then packloop.yaml. */
export function runConfigFor(pack: string, flags: SettingFlags): RunConfig {
  if (flags.record !== undefined && flags.replay !== undefined)
    throw usageError("give --record or --replay, not both (a replay has nothing new to record)");
  const file = configFor(pack, flags.config, new Map());
  const folder = resolve(file.file === "" ? "." : file.file, file.file === "" ? "." : "..");
  const { settings, problems } = readRunSettings(file.value, folder);
  stopAt(problems, file);
  const model = flags.model ?? process.env["PACKLOOP_MODEL"];
  return { settings: model === undefined ? settings : { ...settings, model }, file };
}

/** What a run that is there goes on with, where flags say so. */
export function adjusted(remembered: RunSettings, flags: SettingFlags): RunSettings {
  const { config, model } = flags;
  const settings = config === undefined ? remembered : runConfigFor(config, flags).settings;
  return model === undefined ? settings : { ...settings, model };
}

export interface TermsRequest {
  readonly program: Program;
  readonly config: RunConfig;
  readonly script: Script | undefined;
  readonly flags: SettingFlags;
  readonly limits: Partial<Limits>;
  /** Says what may be a mistake; on standard error when left out. */
  readonly warn?: (line: string) => void;
}

export async function startTerms(worlds: RunWorlds, request: TermsRequest): Promise<StartTerms> {
  const { program, config, script, flags, limits, warn } = request;
  const { record, replay } = flags;
  const { settings } = config;
  // A replay works with nothing of what the settings name.
  if (replay === undefined) stopAt(worlds.world(settings).problems, config.file);
  const say = warn ?? ((line: string) => note(`warning: ${line}`));
  try {
    return await hostTerms(worlds, { program, settings, script, record, replay, limits, warn: say });
  } catch (error) {
    throw error instanceof Fault ? faultError(error) : error;
  }
}

export function stopAt(problems: readonly OptionProblem[], { place }: Config): void {
  if (problems.length === 0) return;
  const lines = problems.map(({ path, message }) => `${place(path)}: ${message}`);
  throw new ExitError(lines.join("\nerror: "), exits.usage);
}
