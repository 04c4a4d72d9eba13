// `packloop verify`: refolds journals and compares them with everything stored beside them.

import { Command } from "commander";
import { Fault, type Store } from "../../engine/ports.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { write } from "../output.ts";
import { openStore } from "../runs/open-store.ts";
import { findRun } from "../runs/run-id.ts";

interface Flags {
  readonly all?: true;
  readonly store?: string;
  readonly json?: true;
}

export function verifyCommand(): Command {
  return new Command()
    .description("Refold a run's journal, check every hash, and compare with what is stored beside it.")
    .argument("[run]", "run, or a unique prefix of it; @ is the last one")
    .option("--all", "every run of the store")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop verify @\n  packloop verify --all --json\n\nExit codes: 0 sound, 1 a mismatch, 2 bad input, 5 no such run",
    )
    .action(async (given: string | undefined, flags: Flags) => {
      if ((given === undefined) === (flags.all === undefined)) throw usageError("name a run, or give --all");
      try {
        await using store = await openStore({ store: flags.store, readOnly: true });
        process.exitCode = await verify(store, given, flags.json === true);
      } catch (error) {
        // Not even the list of runs can be read: a mismatch like any other.
        if (!(error instanceof Fault) || error.code !== "store-corrupt") throw error;
        throw new ExitError(error.message, exits.findings);
      }
    });
}

async function verify(store: Store, given: string | undefined, json: boolean): Promise<number> {
  const names =
    given === undefined
      ? await store.names({ prefix: "", limit: Number.MAX_SAFE_INTEGER })
      : [await wholeName(store, given)];
  const runs: { readonly run: string; readonly problems: readonly string[] }[] = [];
  for (const run of names) {
    const problems = await store.verify(run);
    runs.push({ run, problems });
    if (!json) write(`${[`${run} ${verdict(problems)}`, ...problems].join("\n  ")}\n`);
  }
  const problems = runs.reduce((sum, one) => sum + one.problems.length, 0);
  if (json) write(`${JSON.stringify({ same: problems === 0, problems, runs }, null, 2)}\n`);
  else if (runs.length === 0) write("no runs\n");
  return problems === 0 ? exits.ok : exits.findings;
}

/** Without its record, which may be what is damaged. */
async function wholeName(store: Store, given: string): Promise<string> {
  const { run, turn } = await findRun(store, given);
  if (turn !== undefined) throw usageError(`\`${given}\` names a turn (expected a whole run: \`${run}\`)`);
  return run;
}

const verdict = (problems: readonly string[]): string =>
  problems.length === 0
    ? "sound"
    : `differs in ${problems.length} ${problems.length === 1 ? "place" : "places"}`;
