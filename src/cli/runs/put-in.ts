// Commands that say one thing to a run: they commit it, print the new summary and return; with --follow they
// go on driving the run.

import type { Command } from "commander";
import type { Input } from "../../core/input.ts";
import { ExitError, exits } from "../exit.ts";
import { note, write } from "../output.ts";
import { drive, exitOf, resultText, showOf, summaryFor } from "./drive.ts";
import { openEngine } from "./open-engine.ts";
import { openStore } from "./open-store.ts";
import { refusalError } from "./refusal-text.ts";
import { findRun } from "./run-id.ts";

export interface PutInFlags {
  readonly store?: string;
  readonly json?: true;
  readonly follow?: true;
}

export function withPutInFlags(command: Command): Command {
  return command
    .option("--follow", "go on driving the run")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print the summary as JSON");
}

export async function putIn(given: string, flags: PutInFlags, input: (at: number) => Input): Promise<void> {
  const store = await openStore({ store: flags.store, readOnly: false });
  const show = showOf(flags.json === true);
  let driving = false;
  await using engine = openEngine({
    store,
    people: flags.follow === true,
    onTurn: (id, row, run) => (driving ? show.onTurn(id, row, run) : undefined),
    idle: flags.follow !== true,
  });
  const { run: id } = await findRun(store, given);
  driving = flags.follow === true;
  const submitted = await engine.submit(id, input(Date.now()));
  if (submitted.kind === "refused") throw refusalError(submitted.refusal);
  if (submitted.kind === "ignored") note(`ignored: ${submitted.why}`);
  if (flags.follow === true) {
    await engine.resume(id);
    process.exitCode = await drive(engine, id, show);
    return;
  }
  const run = await engine.load(id);
  if (run === undefined) throw new ExitError(`run \`${id}\` does not exist`, exits.notFound);
  const summary = await summaryFor(engine, id, run);
  write(flags.json === true ? `${JSON.stringify(summary)}\n` : resultText(summary));
  process.exitCode = submitted.kind === "ignored" || run.final === null ? exits.ok : exitOf(summary);
}
