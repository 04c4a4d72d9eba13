// `packloop verify`: refolds journals and compares them with everything stored beside them.

import { existsSync, readFileSync } from "node:fs";
import { Command } from "commander";
import { Fault, type Store } from "../../engine/ports.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { write } from "../output.ts";
import { reasonOf } from "../read-file.ts";
import { localStorePath, openStore } from "../runs/open-store.ts";
import { findRun } from "../runs/run-id.ts";
import { type PageVerdict, verifyPage } from "../runs/verify-page.ts";

interface Flags {
  readonly all?: true;
  readonly store?: string;
  readonly json?: true;
}

export function verifyCommand(): Command {
  return new Command()
    .description("Refold a run's journal, check every hash, and compare with what is stored beside it.")
    .argument("[run]", "run, or a unique prefix of it; @ is the last one; or a page, FILE.html")
    .option("--all", "every run of the store")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop verify @\n  packloop verify --all --json\n  packloop verify run.html\n\nExit codes: 0 sound, 1 a mismatch, 2 bad input, 5 no such run",
    )
    .action(async (given: string | undefined, flags: Flags) => {
      if ((given === undefined) === (flags.all === undefined)) throw usageError("name a run, or give --all");
      if (given !== undefined && /\.html?$/i.test(given)) {
        process.exitCode = await verifyFile(given, flags);
        return;
      }
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
  const strays = given === undefined ? ((await store.strays?.()) ?? []) : [];
  const problems = runs.reduce((sum, one) => sum + one.problems.length, strays.length);
  if (json) write(`${JSON.stringify({ same: problems === 0, problems, runs, strays }, null, 2)}\n`);
  else if (runs.length + strays.length === 0) write("no runs\n");
  else for (const stray of strays) write(`${stray}\n`);
  return problems === 0 ? exits.ok : exits.findings;
}

/** A store is not needed for it; where there is one, the page is held against it. */
async function verifyFile(file: string, flags: Flags): Promise<number> {
  const html = readText(file);
  const hasStore = flags.store !== undefined || existsSync(localStorePath(flags.store));
  await using store = hasStore ? await openStore({ store: flags.store, readOnly: true }) : undefined;
  const runs = await verifyPage(file, html, store);
  const problems = runs.reduce((sum, one) => sum + one.problems.length, 0);
  if (flags.json === true) write(`${JSON.stringify({ same: problems === 0, problems, runs }, null, 2)}\n`);
  for (const one of flags.json === true ? [] : runs) {
    const { run, problems: own } = one;
    write(
      `${[`${run} ${verdict(own)}${own.length === 0 ? ` (${extent(one)})` : ""}`, ...own].join("\n  ")}\n`,
    );
  }
  return problems === 0 ? exits.ok : exits.findings;
}

/** How far a page that is sound was held against a store. */
function extent({ compared, uncompared }: PageVerdict): string {
  if (!compared) return "in itself; no store here has the run";
  if (uncompared === 0) return "as in the store";
  const turns = uncompared === 1 ? "1 turn was" : `${uncompared} turns were`;
  return `${turns} redacted and not compared with the store`;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw usageError(`cannot open \`${file}\` (${reasonOf(error)})`);
  }
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
