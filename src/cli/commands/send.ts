// `packloop send` and `packloop say`: an event or a message from outside.

import { Command } from "commander";
import { type PutInFlags, putIn, withPutInFlags } from "../runs/put-in.ts";
import { keyValues } from "../runs/read-settings.ts";

interface SendFlags extends PutInFlags {
  readonly artifact: readonly string[];
  readonly context?: string;
  readonly by: string;
  readonly dedupeKey?: string;
}

export function sendCommand(): Command {
  const command = new Command()
    .description(
      "Send an event to a run that waits. A wrong event changes nothing and lists the allowed ones.",
    )
    .argument("<run>", "run, or a unique prefix of it; @ is the last one")
    .argument("<event>", "one of the events the state allows")
    .option(
      "--artifact <name=value>",
      "an artifact to write first; @file for a file",
      (value, all: readonly string[]) => [...all, value],
      [],
    )
    .option("--context <text>", "what the next state should know")
    .option("--by <name>", "who sends it", "cli")
    .option("--dedupe-key <key>", "sent again with the same key, it is taken once");
  return withPutInFlags(command)
    .addHelpText(
      "after",
      "\nExamples:\n  packloop send @ Approved --by alice\n  packloop send r_01 Rejected --context 'too risky' --follow",
    )
    .action(async (run: string, event: string, flags: SendFlags) => {
      // Texts as they are: whether they are JSON is the artifact's type to say.
      const artifacts = keyValues(flags.artifact, "--artifact");
      await putIn(run, flags, (at) => ({
        type: "event",
        at,
        name: event,
        by: flags.by,
        artifacts,
        ...(flags.context !== undefined && { context: flags.context }),
        ...(flags.dedupeKey !== undefined && { dedupeKey: flags.dedupeKey }),
      }));
    });
}

export function sayCommand(): Command {
  const command = new Command()
    .description("Say something to a run that waits; the model answers in its state.")
    .argument("<run>", "run, or a unique prefix of it; @ is the last one")
    .argument("<text>", "the message")
    .option("--by <name>", "who says it", "cli");
  return withPutInFlags(command)
    .addHelpText(
      "after",
      "\nExamples:\n  packloop say @ 'which service is it?' --follow\n  packloop say r_01 'go on' --by alice",
    )
    .action(async (run: string, text: string, flags: PutInFlags & { by: string }) => {
      await putIn(run, flags, (at) => ({ type: "message", at, text, by: flags.by }));
    });
}
