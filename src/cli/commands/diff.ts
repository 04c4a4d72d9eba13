// `packloop diff`: two runs, or two turns of one, side by side.

import { Command } from "commander";
import type { Json } from "../../base/json.ts";
import type { Change, Difference } from "../../core/diff.ts";
import { runDiff } from "../../host/run-diff.ts";
import type { LoadedRun } from "../../host/stored-runs.ts";
import { exits } from "../exit.ts";
import { write } from "../output.ts";
import { loadRun } from "../runs/load-run.ts";
import { openStore } from "../runs/open-store.ts";

/** Lines of a report for people; --json has all. */
const LINES_MAX = 40;
const VALUE_MAX = 40;

interface Flags {
  readonly exitCode?: true;
  readonly store?: string;
  readonly json?: true;
}

export function diffCommand(): Command {
  return new Command()
    .description("Compare two runs, or two turns, aligned by state and visit.")
    .argument("<a>", "RUN or RUN@TURN; @ is the last run")
    .argument("<b>", "RUN or RUN@TURN")
    .option("--exit-code", "leave with 1 when they differ")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop diff r_01 r_02\n  packloop diff @@4 @@9 --json --exit-code\n\nExit codes: 0 compared, 1 different with --exit-code, 2 bad input, 5 no such run or turn",
    )
    .action(async (first: string, second: string, flags: Flags) => {
      await using store = await openStore({ store: flags.store, readOnly: true });
      const [a, b] = [await loadRun(store, first), await loadRun(store, second)];
      const found = await runDiff(store, a, b);
      if (flags.json === true) write(`${JSON.stringify(found, null, 2)}\n`);
      else write(diffText(found, a, b));
      process.exitCode = flags.exitCode === true && !found.same ? exits.findings : exits.ok;
    });
}

function diffText(found: Difference, a: LoadedRun, b: LoadedRun): string {
  const names = `${a.id}@${a.turn} and ${b.id}@${b.turn}`;
  if (found.same) return `${names} are the same\n`;
  const out = [`${names} differ`];
  const { first_divergence: first, status, changes } = found;
  if (first !== null) out.push(`first in ${first.state}#${first.visit}: ${first.field}`, "");
  for (const change of changes.slice(0, LINES_MAX)) out.push(`  ${changeText(change)}`);
  if (changes.length > LINES_MAX) out.push(`  … ${changes.length - LINES_MAX} more (--json has all)`);
  const artifacts = Object.entries(found.artifacts);
  if (artifacts.length > 0) out.push("", "artifacts at the end");
  for (const [name, values] of artifacts) out.push(`  ${name}: ${shown(values.a)} → ${shown(values.b)}`);
  if (status.a !== status.b) out.push("", `status: ${status.a} → ${status.b}`);
  return `${out.join("\n")}\n`;
}

function changeText({ state, visit, field, a, b }: Change): string {
  if (field === "visit") return `${state}#${visit}: only in ${a === null ? "the second" : "the first"}`;
  return `${state}#${visit}: ${field}: ${shown(a)} → ${shown(b)}`;
}

function shown(value: Json): string {
  if (value === null) return "—";
  const text = [...(typeof value === "string" ? value : JSON.stringify(value)).replaceAll(/\s+/g, " ")];
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1).join("")}…` : text.join("");
}
