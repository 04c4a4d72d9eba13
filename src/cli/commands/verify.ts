// `packloop verify`: refolds journals and compares them with everything stored beside them.

import { Command } from "commander";
import type { Store } from "../../engine/ports.ts";
import { exits, usageError } from "../exit.ts";
import { write } from "../output.ts";
import { eachRecord, wholeRun } from "../runs/load-run.ts";
import { openStore } from "../runs/open-store.ts";

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
      await using store = await openStore({ store: flags.store, readOnly: true });
      const names = given === undefined ? allNames(store) : [(await wholeRun(store, given)).run];
      const runs: { readonly run: string; readonly problems: readonly string[] }[] = [];
      for await (const run of names) {
        const problems = await store.verify(run);
        runs.push({ run, problems });
        if (flags.json !== true) write(`${[`${run} ${verdict(problems)}`, ...problems].join("\n  ")}\n`);
      }
      const problems = runs.reduce((sum, one) => sum + one.problems.length, 0);
      if (flags.json === true)
        write(`${JSON.stringify({ same: problems === 0, problems, runs }, null, 2)}\n`);
      else if (runs.length === 0) write("no runs\n");
      process.exitCode = problems === 0 ? exits.ok : exits.findings;
    });
}

async function* allNames(store: Store): AsyncGenerator<string> {
  for await (const { run } of eachRecord(store)) yield run;
}

const verdict = (problems: readonly string[]): string =>
  problems.length === 0
    ? "sound"
    : `differs in ${problems.length} ${problems.length === 1 ? "place" : "places"}`;
