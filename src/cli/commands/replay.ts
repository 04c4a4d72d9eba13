// `packloop replay`: decides every turn of a run again from what was recorded, and names the first
// difference.

import { Command } from "commander";
import type { ReplayDifference } from "../../core/replay.ts";
import { replayRun } from "../../host/replay-run.ts";
import { exits } from "../exit.ts";
import { write } from "../output.ts";
import { loadRun } from "../runs/load-run.ts";
import { openStore } from "../runs/open-store.ts";

export function replayCommand(): Command {
  return new Command()
    .description("Decide every turn again from the recorded answers. No model and no tool is called.")
    .argument("<run>", "RUN, or RUN@TURN to stop after that turn; @ is the last run")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop replay @\n  packloop replay r_01 --json\n\nExit codes: 0 the same, 1 a difference, 2 bad input, 5 no such run or turn",
    )
    .action(async (given: string, flags: { store?: string; json?: true }) => {
      await using store = await openStore({ store: flags.store, readOnly: true });
      const replayed = await replayRun(store, await loadRun(store, given));
      const { run, same, turns, first_difference: first } = replayed;
      if (flags.json === true) write(`${JSON.stringify(replayed, null, 2)}\n`);
      else write(first === null ? `${run}: all ${turns} turns are decided the same\n` : text(run, first));
      process.exitCode = same ? exits.ok : exits.findings;
    });
}

function text(run: string, { turn, fact, recorded, decided, why }: ReplayDifference): string {
  const lines = [
    `${run} differs at turn ${turn}, fact ${fact}: ${why}`,
    `  recorded  ${recorded === null ? "nothing" : JSON.stringify(recorded)}`,
    `  decided   ${decided === null ? "nothing" : JSON.stringify(decided)}`,
  ];
  return `${lines.join("\n")}\n`;
}
