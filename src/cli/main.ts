// The command line's way in: one command line to one exit code.

import { CommanderError } from "commander";
import { suggest } from "../base/suggest.ts";
import { Fault } from "../engine/ports.ts";
import { commandNames, commandSummaries, loadCommand } from "./command-table.ts";
import { ExitError, exits, faultError } from "./exit.ts";
import { note, write } from "./output.ts";
import { packageVersion } from "./package-version.ts";
import { NO_INPUT } from "./runs/may-ask.ts";

/** Runs one command line and returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    await dispatch(args);
    return Number(process.exitCode ?? exits.ok);
  } catch (error) {
    return failure(error, args.includes("--debug"));
  }
}

async function dispatch(args: readonly string[]): Promise<void> {
  if (args.includes("--no-input")) process.env[NO_INPUT] = "1";
  const [name, ...rest] = args.filter((arg) => arg !== "--debug" && arg !== "--no-input");
  if (name === undefined || name === "--help" || name === "-h") return write(overview());
  if (name === "--version" || name === "-V") return write(`${packageVersion()}\n`);
  if (name === "help") return dispatch(rest[0] === undefined ? ["--help"] : [rest[0], "--help"]);
  const command = await loadCommand(name);
  if (command === undefined) throw unknownCommand(name);
  command
    .name(`packloop ${name}`)
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: note, outputError: () => undefined });
  for (const sub of command.commands) sub.copyInheritedSettings(command);
  await command.parseAsync([...rest], { from: "user" });
}

function unknownCommand(name: string): ExitError {
  const meant = suggest(name, commandNames);
  const hint = meant === undefined ? "see packloop --help" : `did you mean \`packloop ${meant}\`?`;
  return new ExitError(`\`${name}\` is not a command (${hint})`, exits.usage);
}

function overview(): string {
  const rows = commandSummaries.map(([name, summary]) => `  ${name.padEnd(12)}${summary}`);
  return [
    "Usage: packloop COMMAND [options]",
    "",
    "Checks PromptPack files like a compiler, with a proof of how every run ends, and runs them as durable loops.",
    "",
    "Commands:",
    ...rows,
    "",
    "Every command has --help with examples. --no-input (never ask anything) and --debug work with every one.",
    "",
    "Examples:",
    "  packloop check codegen.pack.yaml --bound",
    "  packloop run examples/draft/draft.pack.yaml --script examples/draft/script.yaml",
    "",
    "Exit codes: 0 fine, 1 findings or failed, 2 usage or bad input, 3 a defect, 5 not found, 6 locked,",
    "            10 waiting, 11 budget exhausted, 12 cancelled, 130 paused by Ctrl-C,",
    "            143 paused by SIGTERM",
    "",
  ].join("\n");
}

function failure(error: unknown, debug: boolean): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exits.ok;
    note(`error: ${error.message.replace(/^error: /, "")}`);
    return exits.usage;
  }
  if (error instanceof Fault) return failure(faultError(error), debug);
  if (error instanceof ExitError) {
    note(`error: ${error.message}`);
    if (debug) note(error.stack ?? "");
    return error.code;
  }
  const message = error instanceof Error ? error.message : String(error);
  note(`error: packloop itself failed: ${message}`);
  note(
    debug && error instanceof Error
      ? (error.stack ?? "")
      : "run again with --debug for details, and please report it",
  );
  return exits.defect;
}
