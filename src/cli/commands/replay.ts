// `packloop replay`: decides every turn of a run again from what was recorded, and names the first
// difference.

import { Command } from "commander";
import { applyTurn } from "../../core/apply.ts";
import type { Program } from "../../core/program.ts";
import { digestFor, type ReplayDifference, replayTurn } from "../../core/replay.ts";
import { emptyRun } from "../../core/run.ts";
import type { Store } from "../../engine/ports.ts";
import { exits } from "../exit.ts";
import { write } from "../output.ts";
import { type LoadedRun, loadRun, storedProgram, turnsOf } from "../runs/load-run.ts";
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
      const loaded = await loadRun(store, given);
      const difference = await replay(store, loaded);
      const { id: run, turn: turns } = loaded;
      if (flags.json === true) {
        const same = difference === undefined;
        write(`${JSON.stringify({ run, same, turns, first_difference: difference ?? null }, null, 2)}\n`);
      } else
        write(
          difference === undefined
            ? `${run}: all ${turns} turns are decided the same\n`
            : text(run, difference),
        );
      process.exitCode = difference === undefined ? exits.ok : exits.findings;
    });
}

async function replay(store: Store, { id, turn }: LoadedRun): Promise<ReplayDifference | undefined> {
  const programs = new Map<string, Program>();
  let run = emptyRun;
  for await (const row of turnsOf(store, id, { from: 1, to: turn })) {
    const digest = digestFor(run, row);
    const program = programs.get(digest) ?? (await storedProgram(store, digest));
    programs.set(digest, program);
    const difference = replayTurn(program, run, row);
    if (difference !== undefined) return difference;
    run = applyTurn(run, row);
  }
  return undefined;
}

function text(run: string, { turn, fact, recorded, decided, why }: ReplayDifference): string {
  const lines = [
    `${run} differs at turn ${turn}, fact ${fact}: ${why}`,
    `  recorded  ${recorded === null ? "nothing" : JSON.stringify(recorded)}`,
    `  decided   ${decided === null ? "nothing" : JSON.stringify(decided)}`,
  ];
  return `${lines.join("\n")}\n`;
}
