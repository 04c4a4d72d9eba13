// The plugins of a gateway: every folder of the plugin roots with a manifest that can be trusted. What is
// skipped is kept with its reason, because a pipeline may name it.

import { readdirSync, realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { openPlugin, type PluginFolder } from "../process/plugin-folder.ts";
import { defaultEntry, type GatewayConfig, type PluginEntry } from "./config/config.ts";
import type { Findings } from "./config/section.ts";
import type { Pipeline } from "./pipeline/pipeline.ts";

export interface InstalledPlugin extends PluginFolder {
  readonly entry: PluginEntry;
}

export interface PluginSet {
  readonly plugins: ReadonlyMap<string, InstalledPlugin>;
  /** Folder → why it is not used. */
  readonly skipped: ReadonlyMap<string, string>;
}

export function findPlugins(config: GatewayConfig, findings: Findings): PluginSet {
  const plugins = new Map<string, InstalledPlugin>();
  const skipped = new Map<string, string>();
  for (const root of config.pluginRoots) {
    for (const name of foldersOf(root, findings)) {
      const opened = openTrusted(root, name, config.service.isStrict);
      if (typeof opened === "string") skipped.set(name, opened);
      else if (plugins.has(opened.manifest.name))
        skipped.set(name, `there is another plugin \`${opened.manifest.name}\``);
      else plugins.set(opened.manifest.name, withEntry(opened, config));
    }
  }
  for (const [name, why] of skipped) findings.warnings.push(`plugin \`${name}\` is skipped: ${why}`);
  for (const plugin of plugins.values()) checkPlugin(plugin, findings);
  for (const name of config.plugins.keys())
    if (!plugins.has(name) && !skipped.has(name))
      findings.warnings.push(`plugin \`${name}\` of the configuration is not installed`);
  return { plugins, skipped };
}

function foldersOf(root: string, findings: Findings): readonly string[] {
  try {
    return readdirSync(root)
      .filter((name) => !name.startsWith(".") && isFolder(join(root, name)))
      .toSorted();
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    findings.warnings.push(`the plugin folder \`${root}\` cannot be read (${code})`);
    return [];
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

function openTrusted(root: string, name: string, isStrict: boolean): PluginFolder | string {
  const opened = openPlugin(join(root, name), { isStrict });
  if (typeof opened === "string") return opened;
  const home = realpathSync(join(root, name));
  if (!home.startsWith(realpathSync(root) + sep))
    return "its folder is a link that leads out of the plugin root";
  return opened;
}

const withEntry = (opened: PluginFolder, { plugins }: GatewayConfig): InstalledPlugin => ({
  ...opened,
  entry: plugins.get(opened.manifest.name) ?? defaultEntry(opened.manifest.name),
});

function checkPlugin({ manifest, entry }: InstalledPlugin, findings: Findings): void {
  const { name, configKeys, commands } = manifest;
  const say = (list: string[], text: string, key?: string) =>
    list.push(`${key === undefined ? "" : findings.places.of(entry.config, key)}plugin \`${name}\`: ${text}`);
  for (const warning of manifest.warnings) say(findings.warnings, warning);
  if (!entry.enabled) return;
  for (const key of configKeys.required)
    if (!Object.hasOwn(entry.config, key)) say(findings.errors, `\`config.${key}\` is missing`, key);
  const known = new Set([...configKeys.required, ...configKeys.optional]);
  for (const key of Object.keys(entry.config))
    if (known.size > 0 && !known.has(key))
      say(findings.warnings, `its manifest does not know \`config.${key}\``, key);
  for (const { id, command } of entry.schedules)
    if (!commands.has(command))
      say(findings.errors, `schedule \`${id}\` calls \`${command}\`, which is not a command of it`);
}

/** Every plugin of every pipeline must be there, switched on, and take events. */
export function checkUses(
  pipelines: ReadonlyMap<string, Pipeline>,
  { plugins, skipped }: PluginSet,
  findings: Findings,
): void {
  for (const pipeline of pipelines.values()) {
    for (const { id, plugin, source } of pipeline.nodes.values()) {
      const place = findings.places.of(source);
      const say = (why: string) =>
        findings.errors.push(
          `${place}pipeline \`${pipeline.name}\`: step \`${id}\` uses \`${plugin}\`, ${why}`,
        );
      const found = plugins.get(plugin);
      const why = skipped.get(plugin);
      if (found === undefined) say(why === undefined ? "which is not installed" : `which is skipped: ${why}`);
      else if (!found.entry.enabled) say("which is not enabled");
      else if (!found.manifest.commands.has("handle")) say("which has no command `handle`");
    }
  }
}
