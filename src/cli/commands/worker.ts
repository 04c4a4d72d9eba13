// `packloop worker`: drives runs of a PostgreSQL store, beside any number of others on any number of machines.

import { once } from "node:events";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import type { Ask } from "../../core/facts.ts";
import type { SlotLimits } from "../../engine/slots.ts";
import { exits, usageError } from "../exit.ts";
import { note } from "../output.ts";
import { duration } from "../runs/duration.ts";
import { openEngine, openWorlds } from "../runs/open-engine.ts";
import { chosenStore, isDatabase, openStore } from "../runs/open-store.ts";
import { runConfigFor } from "../runs/start-terms.ts";
import { openTelemetry } from "../runs/telemetry.ts";

interface Flags {
  readonly store?: string;
  readonly runs: number;
  readonly concurrency?: SlotLimits;
  readonly grace: number;
}

/** What a worker calls for runs; the rest costs nothing. */
const KINDS: readonly Ask["kind"][] = ["model", "tool", "agent"];

/** Runs that a worker has at the same time unless it is told otherwise. */
const RUNS = 256;

export function workerCommand(): Command {
  return new Command("worker")
    .summary("drive runs of a PostgreSQL store")
    .description(
      "Drives runs of a PostgreSQL store, beside any number of other workers. Runs of a worker that dies are taken up by the others within seconds.",
    )
    .option("--store <url>", "the database: postgres://USER@HOST/DATABASE")
    .option("--runs <n>", "runs at the same time", wholeNumber, RUNS)
    .option(
      "--concurrency <kind=n>",
      "calls of a kind (model, tool, agent) at the same time; may be repeated",
      kindLimit,
    )
    .option("--grace <time>", "how long tools may finish when it is stopped", duration, duration("10s"))
    .addHelpText(
      "after",
      `
Examples:
  packloop worker --store postgres://packloop@db/packloop
  packloop worker --store "$PACKLOOP_STORE" --concurrency model=20 --concurrency tool=8

Exit codes: 0 stopped, 2 usage, 3 the database cannot be used`,
    )
    .action(async (flags: Flags) => {
      process.exitCode = await work(flags);
    });
}

async function work(flags: Flags): Promise<number> {
  const address = chosenStore(flags.store);
  if (!isDatabase(address))
    throw usageError(
      `a worker needs a PostgreSQL store, and \`${address}\` is a file (packloop serve drives the runs of a file)`,
    );
  // Its runs have settings of their own; only what it tells of itself is in the folder it works in.
  const { settings } = runConfigFor(join(".", "pack"), {});
  await using telemetry = await openTelemetry(settings.telemetry);
  const store = await openStore({ store: flags.store, readOnly: false, create: true });
  await using engine = openEngine({
    ...{ store, telemetry, worlds: openWorlds({ store: flags.store }), people: true, takes: flags.runs },
    ...(flags.concurrency !== undefined && { slots: flags.concurrency }),
    onFailed: (run, error) => {
      const message = error instanceof Error ? error.message : String(error);
      note(run === "" ? `warning: ${message}` : `warning: run \`${run}\` cannot go on: ${message}`);
    },
  });
  await engine.drive();
  note(`working (${process.pid}); stop with Ctrl-C`);
  const stopped = new AbortController();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  await Promise.race(signals.map((name) => once(process, name, { signal: stopped.signal })));
  stopped.abort();
  note("stopping: what is under way may finish");
  await engine.pause(flags.grace);
  return exits.ok;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError("expected a whole number from 1 on");
  return value;
}

function kindLimit(text: string, before: SlotLimits = {}): SlotLimits {
  const [kind, limit, ...rest] = text.split("=");
  if (rest.length > 0 || limit === undefined || !KINDS.some((one) => one === kind))
    throw new InvalidArgumentError(`expected KIND=N with one of ${KINDS.join(", ")}`);
  return { ...before, [kind as Ask["kind"]]: wholeNumber(limit) };
}
