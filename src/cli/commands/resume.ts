// `packloop resume`

import { Command } from "commander";
import { note } from "../output.ts";
import { drive, showOf } from "../runs/drive.ts";
import { openEngine } from "../runs/open-engine.ts";
import { openStore } from "../runs/open-store.ts";
import { loadScript } from "../runs/read-settings.ts";
import { findRun } from "../runs/run-id.ts";

interface Flags {
  readonly script?: string;
  readonly store?: string;
  readonly json?: true;
}

export function resumeCommand(): Command {
  return new Command()
    .description(
      "Go on with a run after a crash, Ctrl-C or a wait. Nothing that was answered is asked again.",
    )
    .argument("<run>", "run, or a unique prefix of it; @ is the last one")
    .option("--script <file>", "a script in place of the one the run remembers")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "one JSON object per turn, the summary last")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop resume @\n  packloop resume r_01 --json | tail -n 1\n\nExit codes as for packloop run.",
    )
    .action(async (given: string, flags: Flags) => {
      const script = flags.script === undefined ? undefined : loadScript(flags.script).script;
      const store = await openStore({ store: flags.store, readOnly: false });
      const show = showOf(flags.json === true);
      await using engine = openEngine({
        store,
        people: true,
        onTurn: show.onTurn,
        ...(script !== undefined && { script }),
      });
      const { run: id } = await findRun(store, given);
      if (flags.json !== true) note(`resuming ${id}`);
      await engine.resume(id);
      process.exitCode = await drive(engine, id, show);
    });
}
