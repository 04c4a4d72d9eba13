// packloop.yaml and what it names: mistakes with their places, keys of providers, the sandbox, pinned tools.

import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { PROVIDERS, readModelSetting } from "../../adapter/model/model-setting.ts";
import { keyVariables } from "../../adapter/model/open-model.ts";
import type { OptionProblem } from "../../adapter/tool/option-reader.ts";
import { sandboxWrapper } from "../../adapter/tool/proc/sandbox.ts";
import { ToolProblem } from "../../adapter/tool/tool-problem.ts";
import type { Json } from "../../base/json.ts";
import { Fault } from "../../engine/ports.ts";
import { systemClock } from "../../engine/system-clock.ts";
import { lookAtPinned } from "../../host/look-at-pinned.ts";
import { noSettings, type RunSettings } from "../../host/run-settings.ts";
import { CONFIG_NAME, type Config } from "../config.ts";
import { ExitError } from "../exit.ts";
import { openWorlds } from "../runs/open-engine.ts";
import { runConfigFor, type SettingFlags } from "../runs/start-terms.ts";
import { type Checked, fail, ok, warn } from "./checked.ts";

type Env = (name: string) => string | undefined;

export interface SettingsLook {
  readonly check: Checked;
  /** As a run would have them; the defaults where the file cannot be used. */
  readonly settings: RunSettings;
  readonly isUsable: boolean;
}

/** As `packloop run` reads them, but with every mistake collected instead of stopping. */
export function lookAtSettings(pack: string, flags: SettingFlags): SettingsLook {
  const spoiled = (details: readonly string[], settings: RunSettings): SettingsLook => {
    const found = `${details.length} ${details.length === 1 ? "problem" : "problems"} in the settings`;
    const remedy = "correct the file at the places named (see docs/configuration.md)";
    return { check: fail("settings", { found, details, remedy }), settings, isUsable: false };
  };
  try {
    const { settings, file } = runConfigFor(pack, flags);
    const problems = bindingProblems(settings).map(
      ({ path, message }) =>
        `${path[0] === "model" ? modelPlace(flags, file) : file.place(path)}: ${message}`,
    );
    if (problems.length > 0) return spoiled(problems, settings);
    const found = file.file === "" ? `no ${CONFIG_NAME} here; defaults hold` : `\`${file.file}\` is in order`;
    return { check: ok("settings", found), settings, isUsable: true };
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    return spoiled(error.message.split("\nerror: "), noSettings(resolve(".")));
  }
}

/** Where the model comes from that is in force. */
function modelPlace({ model }: SettingFlags, file: Config): string {
  if (model !== undefined) return "--model";
  return process.env["PACKLOOP_MODEL"] === undefined ? file.place(["model"]) : "PACKLOOP_MODEL";
}

/** Of models, prices and tools. Nothing is opened by looking, so there is nothing to close. */
function bindingProblems(settings: RunSettings): readonly OptionProblem[] {
  try {
    return openWorlds({ store: undefined }).world(settings).problems;
  } catch (error) {
    // The check of tools says it.
    if (error instanceof Fault && error.code === "bad_lock") return [];
    throw error;
  }
}

/** Names of variables only, never what is in them. */
export function providersCheck({ model, providers }: RunSettings, env: Env): Checked {
  const isSet = (name: string) => (env(name) ?? "") !== "";
  const set = PROVIDERS.flatMap((provider) => {
    const names = keyVariables({ provider }).filter(isSet);
    return names.length === 0 ? [] : [`${provider} (${names.join(", ")})`];
  });
  const found = set.length === 0 ? "no keys in the environment" : `keys for ${set.join(", ")}`;
  const wanted = new Map<string, readonly string[]>();
  for (const value of [model, ...Object.values(providers)] as readonly Json[]) {
    const setting = value === null ? undefined : readModelSetting(value, [], []);
    if (setting === undefined) continue;
    const names = keyVariables(setting);
    if (names.length > 0 && !names.some(isSet)) wanted.set(`${setting.provider}/${setting.model}`, names);
  }
  if (wanted.size === 0)
    return ok("providers", set.length === 0 ? `${found} (scripts and local models need none)` : found);
  const details = [...wanted].map(([name, names]) => `\`${name}\` has no key (${names.join(" or ")})`);
  return warn("providers", { found, details, remedy: "set the variables named, or run with --script" });
}

/** Tried with a command that does nothing. It matters where a command is bound that must not run without. */
export async function sandboxCheck({ tools, folder }: RunSettings): Promise<Checked> {
  const modes = Object.entries(tools).flatMap(([name, { builtin, sandbox }]) =>
    builtin === "proc" ? [{ name, mode: sandbox ?? "bubblewrap" }] : [],
  );
  const needing = modes.filter(({ mode }) => mode === "bubblewrap").map(({ name }) => `\`${name}\``);
  const bare = modes.filter(({ mode }) => mode === "none").map(({ name }) => `\`${name}\``);
  const without = bare.length === 0 ? "" : `; without one by their settings: ${bare.join(", ")}`;
  try {
    const path = process.env["PATH"] ?? "";
    await sandboxWrapper("bubblewrap", { workspace: tmpdir(), folder, path, network: false, cpuSec: 10 });
    return ok("sandbox", `bubblewrap works${without}`);
  } catch (error) {
    if (!(error instanceof ToolProblem)) throw error;
    const found = error.message.replace(/ \(.*\)$/, "");
    const remedy = "install bubblewrap, or write `sandbox: none` in a tool's binding to run it without";
    if (needing.length === 0) return warn("sandbox", { found: `${found}${without}`, remedy });
    return fail("sandbox", { found: `${found}, and ${needing.join(", ")} will not run without`, remedy });
  }
}

/** Starting a program may mean downloading it; a run waits longer. */
const WAIT_MS = 30_000;

export async function toolsCheck(settings: RunSettings, env: Env): Promise<Checked> {
  try {
    const remotes = await lookAtPinned(settings, { clock: systemClock(), env, waitMs: WAIT_MS });
    const changed = remotes.flatMap((one) => one.changed);
    const away = remotes.flatMap(({ label, away: why }) =>
      why === undefined ? [] : [`\`${label}\` cannot be asked: ${why}`],
    );
    const details = [...changed, ...away];
    if (changed.length > 0) {
      const found = `${changed.length} ${changed.length === 1 ? "definition is" : "definitions are"} not the pinned one`;
      const remedy = "look at what changed; remove its entry from packloop.lock.json to accept it";
      return fail("tools", { found, details, remedy });
    }
    if (away.length > 0) {
      const remedy = "start them, or set what they need; runs that call them wait or fail";
      return warn("tools", {
        found: `${away.length} of ${remotes.length} servers cannot be asked`,
        details,
        remedy,
      });
    }
    const found =
      remotes.length === 0 ? "no servers or agents are bound" : `${remotes.length} asked, as pinned`;
    return ok("tools", found);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "bad_lock") throw error;
    return fail("tools", {
      found: error.message.replace(/ \(.*\)$/, ""),
      remedy: "restore it, or remove it",
    });
  }
}
