// Commands that say one thing to a run: they commit it, print the new summary and return; with --follow they
// go on driving the run.

import type { Command } from "commander";
import type { Input } from "../../core/input.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { note, write, writeText } from "../output.ts";
import { beginShow, type DriveFlags, drive, exitOf, summaryFor, withDriveFlags } from "./drive.ts";
import { putOnServer } from "./on-server.ts";
import { openEngine, openWorlds } from "./open-engine.ts";
import { openStore } from "./open-store.ts";
import { refusalError } from "./refusal-error.ts";
import { resultText } from "./result-text.ts";
import { findRun } from "./run-id.ts";
import { runningServer } from "./server-client.ts";
import { showOf } from "./show.ts";
import { inCallersTrace, rememberedTelemetry } from "./telemetry.ts";

export interface PutInFlags extends DriveFlags {
  readonly store?: string;
  readonly follow?: true;
}

export function withPutInFlags(command: Command): Command {
  return withDriveFlags(command)
    .option("--follow", "go on driving the run")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print the summary as JSON");
}

export async function putIn(given: string, flags: PutInFlags, input: (at: number) => Input): Promise<void> {
  const show = showOf(flags);
  const server = await runningServer(flags.store);
  if (server !== undefined) {
    const request = {
      run: given,
      store: flags.store,
      follow: flags.follow === true,
      json: flags.json === true,
    };
    process.exitCode = await putOnServer(server, { ...request, show }, input(Date.now()));
    return;
  }
  const store = await openStore({ store: flags.store, readOnly: false });
  await using telemetry = await rememberedTelemetry(store, given);
  const worlds = openWorlds({ store: flags.store });
  await using engine = openEngine({
    worlds,
    store,
    telemetry,
    people: flags.follow === true,
    idle: flags.follow !== true,
    ...(flags.follow === true && { onTurn: show.onTurn }),
  });
  const { run: id, turn } = await findRun(store, given);
  if (turn !== undefined) throw usageError(`\`${given}\` names a turn (expected a whole run: \`${id}\`)`);
  const before = await engine.load(id);
  if (before === undefined) throw new ExitError(`run \`${id}\` does not exist`, exits.notFound);
  await worlds.learn(store, id);
  const submitted = await inCallersTrace(() => engine.submit(id, input(Date.now())));
  if (submitted.kind === "refused") throw refusalError(submitted.refusal);
  if (submitted.kind === "ignored") note(`ignored: ${submitted.why}`);
  if (flags.follow === true) {
    await beginShow(engine, show, { id, before });
    await engine.resume(id);
    process.exitCode = await drive(engine, id, { show, flags });
    return;
  }
  const run = (await engine.load(id)) ?? before;
  const summary = await summaryFor(engine, id, run);
  if (flags.json === true) write(`${JSON.stringify(summary)}\n`);
  else writeText(resultText(summary));
  process.exitCode = submitted.kind === "ignored" || run.final === null ? exits.ok : exitOf(summary);
}
