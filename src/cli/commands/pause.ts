// `packloop pause` and `packloop unpause`: hold runs, so that nothing of them leaves, and let them go again.

import { Command } from "commander";
import type { PauseInput, UnpauseInput } from "../../core/input.ts";
import { Fault, type RunRecord, type Store } from "../../engine/ports.ts";
import { eachRecord } from "../../host/stored-runs.ts";
import { exits, usageError } from "../exit.ts";
import { note, write } from "../output.ts";
import { noteDamaged } from "../runs/load-run.ts";
import { sayOnServer } from "../runs/on-server.ts";
import { openEngine, openWorlds } from "../runs/open-engine.ts";
import { openStore } from "../runs/open-store.ts";
import { type PutInFlags, putIn, withPutInFlags } from "../runs/put-in.ts";
import { refusalError } from "../runs/refusal-error.ts";
import { runningServer } from "../runs/server-client.ts";

const RUN = "run, or a unique prefix of it; @ is the last one";

interface Flags extends PutInFlags {
  readonly by: string;
  readonly all?: true;
  readonly reason?: string;
}

export function pauseCommand(): Command {
  const command = new Command()
    .description(
      "Hold a run and the agents it called. Calls that are out may come back; nothing new leaves until unpause.",
    )
    .argument("[run]", RUN)
    .option("--all", "every run that has not ended")
    .option("--reason <text>", "why")
    .option("--by <name>", "who holds it", "cli");
  return withPutInFlags(command)
    .addHelpText(
      "after",
      "\nExamples:\n  packloop pause @ --reason 'the staging server is down'\n  packloop pause --all\n\nTime goes on: max_wall_time_sec counts as while waiting.",
    )
    .action(async (run: string | undefined, flags: Flags) => {
      const { by, reason } = flags;
      const said = (at: number): PauseInput => ({
        type: "pause",
        at,
        by,
        ...(reason !== undefined && { reason }),
      });
      const isOpen = ({ status, held }: RunRecord) => !held && (status === "running" || status === "waiting");
      await toOneOrAll(run, flags, { said, wanted: isOpen, done: "held" });
    });
}

export function unpauseCommand(): Command {
  const command = new Command()
    .description("Let a run go that somebody holds; what it has to do is done again.")
    .argument("[run]", RUN)
    .option("--all", "every run that is held")
    .option("--by <name>", "who lets it go", "cli");
  return withPutInFlags(command)
    .addHelpText(
      "after",
      "\nExamples:\n  packloop unpause @ --follow\n  packloop unpause --all\n\nWithout --follow and without a server the run goes on with packloop resume.",
    )
    .action(async (run: string | undefined, flags: Flags) => {
      const said = (at: number): UnpauseInput => ({ type: "unpause", at, by: flags.by });
      await toOneOrAll(run, flags, { said, wanted: ({ held }) => held, done: "let go" });
    });
}

interface Wish {
  readonly said: (at: number) => PauseInput | UnpauseInput;
  readonly wanted: (record: RunRecord) => boolean;
  readonly done: string;
}

async function toOneOrAll(run: string | undefined, flags: Flags, wish: Wish): Promise<void> {
  if ((run === undefined) === (flags.all === undefined))
    throw usageError("give a run, or --all for every run (see packloop ls)");
  if (run !== undefined) return putIn(run, flags, wish.said);
  const { runs, failures } = await toAll(flags.store, wish);
  for (const { run: failed, why } of failures) note(`error: run \`${failed}\` was not ${wish.done}: ${why}`);
  if (failures.length > 0) process.exitCode = exits.findings;
  if (flags.json === true) write(`${JSON.stringify({ runs, failures })}\n`);
  else write(`${wish.done}: ${runs.length === 0 ? "no run" : runs.join(", ")}\n`);
}

interface Told {
  readonly runs: readonly string[];
  readonly failures: readonly { readonly run: string; readonly why: string }[];
}

/** Callers before those they called, who follow them. One that cannot be told keeps no other from it. */
async function toAll(path: string | undefined, { said, wanted }: Wish): Promise<Told> {
  const server = await runningServer(path);
  const store = await openStore({ store: path, readOnly: server !== undefined });
  await using engine = openEngine({ worlds: openWorlds({ store: path }), store, people: false, idle: true });
  const tell = async (run: string): Promise<boolean> => {
    if (server !== undefined) return (await sayOnServer(server, run, said(Date.now()))).ignored !== true;
    const submitted = await engine.submit(run, said(Date.now()));
    if (submitted.kind === "refused") throw refusalError(submitted.refusal);
    return submitted.kind === "done";
  };
  const found: RunRecord[] = [];
  for await (const record of eachRecord(store, {}, noteDamaged)) if (wanted(record)) found.push(record);
  const runs: string[] = [];
  const failures: { run: string; why: string }[] = [];
  for (const { run } of found.toSorted((a, b) => a.run.length - b.run.length)) {
    try {
      if (await tell(run)) runs.push(run);
    } catch (error) {
      if (await isStillWanted(store, run, wanted)) failures.push({ run, why: messageOf(error) });
    }
  }
  return { runs, failures };
}

/** Not when it ended or was removed meanwhile. */
async function isStillWanted(store: Store, run: string, wanted: Wish["wanted"]): Promise<boolean> {
  try {
    const record = await store.record(run);
    return record !== undefined && wanted(record);
  } catch (error) {
    // A record that cannot be read is no sign of an end.
    if (error instanceof Fault) return true;
    throw error;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
