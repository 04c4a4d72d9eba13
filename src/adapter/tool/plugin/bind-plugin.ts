// A tool behind a plugin of protocol v2: `plugin: FOLDER` with a manifest and an entrypoint. The arguments of
// a call become the payload of one event; the plugin keeps no state between calls.

import { basename, dirname, resolve } from "node:path";
import { isoTime } from "../../../base/iso-time.ts";
import { isObject, type Json, type JsonObject } from "../../../base/json.ts";
import type { CallContext } from "../../../engine/ports.ts";
import { handedOn } from "../../../process/handed-on.ts";
import { openPlugin, type PluginFolder } from "../../../process/plugin-folder.ts";
import type { PluginCommand } from "../../../process/plugin-manifest.ts";
import { judgePlugin, type PluginRequest, STDOUT_MAX } from "../../../process/plugin-protocol.ts";
import { runProgram } from "../../../process/run-program.ts";
import { type BoundTool, type Surroundings, toolError } from "../bound-tool.ts";
import type { OptionReader } from "../option-reader.ts";
import { pluginAnswer } from "./plugin-answer.ts";

interface PluginOptions {
  readonly command: string;
  readonly eventType: string | undefined;
  readonly config: JsonObject;
  readonly env: readonly string[];
  readonly timeoutMs: number;
}

export function bindPlugin(reader: OptionReader, around: Surroundings): BoundTool {
  const path = resolve(around.folder, reader.neededText("plugin"));
  const options: PluginOptions = {
    command: reader.text("command") ?? "handle",
    eventType: reader.text("event"),
    config: reader.object("config") ?? {},
    env: reader.texts("env") ?? [],
    timeoutMs: (reader.number("timeout_sec", { least: 0.1, most: 3600 }) ?? 120) * 1000,
  };
  const plugin = openPlugin(basename(path) === "manifest.yaml" ? dirname(path) : path);
  if (typeof plugin === "string") {
    reader.wrong("plugin", `the plugin cannot be used: ${plugin}`);
    return unusable;
  }
  const command = plugin.manifest.commands.get(options.command);
  if (command === undefined) {
    const known = [...plugin.manifest.commands.keys()].join(", ");
    reader.wrong("command", `the plugin has no command \`${options.command}\` (it has ${known})`);
    return unusable;
  }
  for (const key of plugin.manifest.configKeys.required)
    if (!Object.hasOwn(options.config, key))
      reader.wrong("config", `the plugin needs \`${key}\` in \`config\``);
  return boundTo(plugin, { command, options, around });
}

/** Stands in for what a configuration with mistakes would have bound; nothing runs with it. */
const unusable: BoundTool = {
  tier: "destructive",
  safe: false,
  call: async () => toolError("not_configured", "the plugin of this tool cannot be used"),
};

interface Binding {
  readonly command: PluginCommand;
  readonly options: PluginOptions;
  readonly around: Surroundings;
}

function boundTo(plugin: PluginFolder, { command, options, around }: Binding): BoundTool {
  const { manifest } = plugin;
  const description = command.description ?? manifest.description ?? `The plugin ${manifest.name}.`;
  const parameters = command.inputSchema ?? { type: "object" };
  return {
    tier: command.reads ? "read" : "destructive",
    safe: command.reads || command.idempotent,
    definition: { description, parameters },
    call: async (args, context) => {
      const workspace = await around.workspaceOf(context.run);
      const request = requestOf(args, { plugin, options, context, workspace, now: around.clock.now() });
      const end = await runProgram({
        argv: [plugin.program],
        cwd: around.folder,
        env: handedOn(options.env, around.env),
        stdin: `${JSON.stringify(request)}\n`,
        timeoutMs: options.timeoutMs,
        stdoutMax: STDOUT_MAX,
        signal: context.signal,
      });
      return pluginAnswer(judgePlugin(end), command);
    },
  };
}

interface Call {
  readonly plugin: PluginFolder;
  readonly options: PluginOptions;
  readonly context: CallContext;
  readonly workspace: string;
  readonly now: number;
}

function requestOf(args: Json, { plugin, options, context, workspace, now }: Call): PluginRequest {
  const input = isObject(args) ? args : { value: args };
  const { command, config, timeoutMs } = options;
  const type = options.eventType ?? `agentic.tool_request.${plugin.manifest.name}`;
  // As a gateway would queue it: the key of the step names the event, so that a repetition is known as one.
  const event = { type, payload: input, event_id: context.key, source: "packloop", timestamp: isoTime(now) };
  const handles = command === "handle";
  return {
    protocol: 2,
    job_id: context.key,
    command,
    config,
    state: {},
    workspace_dir: workspace,
    payload: handles ? event : input,
    ...(handles && { event }),
    deadline_at: isoTime(now + timeoutMs),
  };
}
