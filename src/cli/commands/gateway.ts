// `packloop gateway`: events to plugins, over a serial queue that survives anything.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, InvalidArgumentError, Option } from "commander";
import { get, type Json } from "../../base/json.ts";
import { systemClock } from "../../engine/system-clock.ts";
import { type GatewaySetup, readSetup } from "../../gateway/config/config-file.ts";
import { Door } from "../../gateway/door/door.ts";
import { Gateway } from "../../gateway/gateway.ts";
import { installPlugin } from "../../gateway/install-plugin.ts";
import { gatewayLog } from "../../gateway/log.ts";
import { pipelineJson } from "../../gateway/pipeline/pipeline-json.ts";
import { toolPipelines } from "../../gateway/pipeline/tool-pipelines.ts";
import { type JobStatus, jobRecord } from "../../gateway/queue/job.ts";
import { attemptsOf, jobById, jobTree, listJobs } from "../../gateway/queue/jobs.ts";
import { noticesAfter } from "../../gateway/queue/notices.ts";
import { QueueFile } from "../../gateway/queue/queue-file.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { note, noteRaw, write, writeText } from "../output.ts";
import { packageFile } from "../package-version.ts";
import { jobLines, jobText, noticeLine, pipelineLines } from "../runs/gateway-text.ts";

interface Flags {
  readonly config: string;
  readonly json?: true;
}

const STATUSES = ["queued", "running", "succeeded", "failed", "timed_out", "dead"];

export function gatewayCommand(): Command {
  const command = new Command()
    .description("Run plugins on events: a serial, durable queue with pipelines. See docs/gateway.md.")
    .enablePositionalOptions()
    .option("--config <file>", "the gateway's configuration", "config.yaml")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop gateway --config examples/gateway/config.yaml\n  packloop gateway check --config config.yaml\n  packloop gateway jobs --status failed\n\nExit codes: 0 stopped by SIGINT or SIGTERM, 2 bad configuration, 3 the state failed, 5 not found,\n            6 another gateway runs on this state",
    )
    .action(async (flags: Flags) => {
      process.exitCode = await run(flags);
    });
  const sub = (name: string, text: string) =>
    command.command(name).description(text).option("--config <file>", "the gateway's configuration");
  const flagsOf = (self: Command): Flags & Record<string, unknown> => ({
    ...command.opts<Flags>(),
    ...self.opts(),
  });
  sub("check", "read the configuration and print its pipelines as they are run")
    .option("--json", "print as JSON")
    .action((_flags, self: Command) => check(flagsOf(self)));
  sub("pipelines", "print the pipelines an agent needs, to paste")
    .requiredOption("--for <agent>", "the agent's plugin")
    .action((_flags, self: Command) => pipelines(flagsOf(self), String(self.opts()["for"])));
  sub("install", "write a plugin of this package into a folder of plugins")
    .argument("<plugin>", "its name, like agentic-loop")
    .argument("<folder>", "the folder of plugins")
    .action((plugin: string, folder: string) => install(plugin, folder));
  sub("jobs", "list jobs, the newest first")
    .addOption(new Option("--status <status>", "only those").choices(STATUSES))
    .option("--plugin <name>", "only those")
    .option("--limit <n>", "how many", count, 20)
    .option("--json", "print as JSON")
    .action((_flags, self: Command) => jobs(flagsOf(self)));
  sub("job", "show a job, its attempts and what it led to")
    .argument("<id>", "the job")
    .option("--json", "print as JSON")
    .action((id: string, _flags, self: Command) => job(id, flagsOf(self)));
  sub("events", "list what happened last")
    .option("--limit <n>", "how many", count, 50)
    .option("--json", "print as JSON, one a line")
    .action((_flags, self: Command) => events(flagsOf(self)));
  return command;
}

function count(value: string): number {
  if (/^\d{1,5}$/.test(value) && Number(value) > 0) return Number(value);
  throw new InvalidArgumentError(`\`${value}\` is not a number of lines`);
}

const readConfigFile = (file: string): GatewaySetup => readSetup({ file, env: (name) => process.env[name] });

/** Warnings are remarks; with errors nothing is done. */
function soundSetup(file: string): GatewaySetup {
  const setup = readConfigFile(file);
  for (const warning of setup.warnings) note(`warning: ${warning}`);
  const [first, ...rest] = setup.errors;
  if (first === undefined) return setup;
  for (const error of [first, ...rest].slice(0, -1)) note(`error: ${error}`);
  throw usageError(rest.at(-1) ?? first);
}

async function run(flags: Flags): Promise<number> {
  const setup = soundSetup(flags.config);
  const { config } = setup;
  const log = gatewayLog(config.service, noteRaw);
  const clock = systemClock();
  using file = new QueueFile({ path: config.statePath, newId: randomUUID });
  const gateway = new Gateway({ setup, file, clock, log, random: Math.random });
  const door = new Door({ setup, file, catalog: gateway.catalog, clock, log });
  const url = config.api.enabled ? await door.open() : undefined;
  try {
    const working = gateway.run();
    const place = url === undefined ? "" : ` at ${url}`;
    write(`packloop gateway runs ${setup.plugins.size} plugins${place}\n`);
    const stop = (signal: string): void => {
      log.info({ signal }, "stopping");
      door.close().catch(() => undefined);
      gateway.stop().catch(() => undefined);
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
    await working;
    return exits.ok;
  } finally {
    await door.close();
  }
}

function check(flags: Flags): void {
  const setup = soundSetup(flags.config);
  const compiled = [...setup.pipelines.values()].map(pipelineJson);
  if (flags.json === true) write(`${JSON.stringify({ pipelines: compiled }, null, 2)}\n`);
  else writeText(compiled.map(pipelineLines).join(""));
}

function pipelines(flags: Flags, agent: string): void {
  const { config, plugins } = readConfigFile(flags.config);
  const allowed = get(config.plugins.get(agent)?.config, "allowed_plugins");
  const names = Array.isArray(allowed)
    ? (allowed as readonly Json[]).filter((one) => typeof one === "string")
    : [];
  if (names.length === 0)
    throw usageError(`\`plugins.${agent}.config.allowed_plugins\` names no tools (list them first)`);
  write(
    toolPipelines(
      agent,
      names.map((name) => ({ name, manifest: plugins.get(name)?.manifest })),
    ),
  );
}

function install(plugin: string, folder: string): void {
  const home = fileURLToPath(packageFile("plugins"));
  const written = installPlugin({ from: join(home, plugin), to: folder });
  if (typeof written === "string")
    throw new ExitError(`\`${plugin}\` cannot be installed: ${written}`, exits.usage);
  for (const path of written) write(`${path}\n`);
}

const reading = (flags: Flags): QueueFile =>
  new QueueFile({ path: readConfigFile(flags.config).config.statePath, newId: randomUUID, readOnly: true });

function jobs(flags: Flags & Record<string, unknown>): void {
  using file = reading(flags);
  const found = listJobs(file, {
    ...(flags["status"] !== undefined && { status: flags["status"] as JobStatus }),
    ...(flags["plugin"] !== undefined && { plugin: String(flags["plugin"]) }),
    limit: Number(flags["limit"]),
  });
  if (flags.json === true) write(`${JSON.stringify(found.map(jobRecord), null, 2)}\n`);
  else writeText(jobLines(found));
}

function job(id: string, flags: Flags): void {
  using file = reading(flags);
  const found = jobById(file, id);
  if (found === undefined) throw new ExitError(`there is no job \`${id}\``, exits.notFound);
  const attempts = attemptsOf(file, id);
  const tree = jobTree(file, id).filter((one) => one.id !== id);
  if (flags.json === true) {
    const record = { ...jobRecord(found), attempts, descendants: tree.map(jobRecord) };
    write(`${JSON.stringify(record, null, 2)}\n`);
  } else writeText(jobText(found, { attempts, tree }));
}

function events(flags: Flags & Record<string, unknown>): void {
  using file = reading(flags);
  const found = noticesAfter(file, 0, Number(flags["limit"]));
  if (flags.json === true) for (const one of found) write(`${JSON.stringify(one)}\n`);
  else writeText(found.map(noticeLine).join(""));
}
