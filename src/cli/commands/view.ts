// `packloop view`: the debugger at a run, on the server that owns the store or on one of its own.

import { Command } from "commander";
import { note, write } from "../output.ts";
import { duration } from "../runs/duration.ts";
import { openInBrowser } from "../runs/open-in-browser.ts";
import { openStore } from "../runs/open-store.ts";
import { findRun } from "../runs/run-id.ts";
import { runningServer } from "../runs/server-client.ts";
import { serve } from "./serve.ts";

interface Flags {
  readonly store?: string;
  readonly config?: string;
  readonly open: boolean;
}

export function viewCommand(): Command {
  return new Command()
    .description("Open the debugger at a run. Starts a server when none has the store, until Ctrl-C.")
    .argument("<run>", "run, or RUN@TURN, or a unique prefix; @ is the last one")
    .option("--no-open", "only print the address")
    .option("--config <file>", "settings of the server, in place of ./packloop.yaml")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop view @\n  packloop view r_01@7 --no-open\n\nExit codes: 0 shown, 2 bad input, 3 the store failed, 5 no such run, 6 locked",
    )
    .action(async (given: string, flags: Flags) => {
      process.exitCode = await view(given, flags);
    });
}

async function view(given: string, flags: Flags): Promise<number> {
  const path = await placeOf(given, flags.store);
  const show = (url: string): void => {
    write(`${url}${path}\n`);
    if (flags.open) openInBrowser(`${url}${path}`);
  };
  const server = await runningServer(flags.store);
  if (server !== undefined) {
    show(server.url);
    return 0;
  }
  const { store, config } = flags;
  return serve(
    [],
    {
      ...{ host: "127.0.0.1", port: 0, allowHost: [], webhookAllow: [], rate: 1_000 },
      ...{ grace: duration("10s"), logLevel: "warn" },
      ...(store !== undefined && { store }),
      ...(config !== undefined && { config }),
    },
    (url) => {
      note("no server has the store; this one serves it until Ctrl-C");
      show(url);
    },
  );
}

/** The store is closed again: whoever serves it needs it for itself. */
async function placeOf(given: string, path: string | undefined): Promise<string> {
  await using store = await openStore({ store: path, readOnly: true });
  const { run, turn } = await findRun(store, given);
  return `/r/${encodeURIComponent(run)}${turn === undefined ? "" : `?turn=${turn}`}`;
}
