// `packloop resume`

import { Command } from "commander";
import { missingKey } from "../../core/missing-key.ts";
import type { Run } from "../../core/run.ts";
import type { Engine } from "../../engine/engine.ts";
import type { RunSettings } from "../../host/run-settings.ts";
import { descendantsOf } from "../../host/run-tree.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { beginShow, type DriveFlags, drive, withDriveFlags } from "../runs/drive.ts";
import { loadRun } from "../runs/load-run.ts";
import { followOnServer, sayOnServer } from "../runs/on-server.ts";
import { openEngine, openWorlds } from "../runs/open-engine.ts";
import { openStore } from "../runs/open-store.ts";
import { loadScript } from "../runs/read-settings.ts";
import { findRun } from "../runs/run-id.ts";
import { runningServer, type ServerClient } from "../runs/server-client.ts";
import { type Show, showOf } from "../runs/show.ts";
import { adjusted, type SettingFlags } from "../runs/start-terms.ts";
import { rememberedTelemetry } from "../runs/telemetry.ts";

interface Flags extends DriveFlags, Pick<SettingFlags, "config" | "model"> {
  readonly script?: string;
  readonly store?: string;
}

export function resumeCommand(): Command {
  const command = new Command()
    .description(
      "Go on with a run after a crash, Ctrl-C, a wait or a pause. Nothing that was answered is asked again.",
    )
    .argument("<run>", "run, or a unique prefix of it; @ is the last one")
    .option("--script <file>", "a script in place of the one the run remembers")
    .option("--model <name>", "a model in place of the one the run remembers")
    .option("--config <file>", "settings in place of those the run remembers")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "one JSON object per turn, the summary last");
  return withDriveFlags(command)
    .addHelpText(
      "after",
      "\nExamples:\n  packloop resume @\n  packloop resume r_01 --json | tail -n 1\n\nExit codes as for packloop run.",
    )
    .action(async (given: string, flags: Flags) => {
      process.exitCode = await resume(given, flags);
    });
}

async function resume(given: string, flags: Flags): Promise<number> {
  const script = flags.script === undefined ? undefined : loadScript(flags.script).script;
  const show = showOf(flags);
  const server = await runningServer(flags.store);
  if (server !== undefined) return resumeOnServer(server, given, { flags, show });
  const store = await openStore({ store: flags.store, readOnly: false });
  const adjust = (settings: RunSettings) => adjusted(settings, flags);
  await using telemetry = await rememberedTelemetry(store, given, adjust);
  await using engine = openEngine({
    telemetry,
    worlds: openWorlds({ store: flags.store, script, adjust }),
    store,
    people: true,
    onTurn: show.onTurn,
    ...(flags.stream === true && { onDelta: show.onDelta }),
  });
  const { run: id, turn } = await findRun(store, given);
  if (turn !== undefined)
    throw usageError(
      `\`${given}\` names a turn (expected a whole run; packloop fork ${given} goes on from there)`,
    );
  const before = await engine.load(id);
  if (before === undefined)
    throw new ExitError(`run \`${id}\` does not exist (see packloop ls)`, exits.notFound);
  await beginShow(engine, show, { id, before, title: `resuming ${id}` });
  await letGo(engine, id, before);
  await engine.resume(id);
  // Awaited here: the engine is closed when this function is left.
  return await drive(engine, id, { show, flags });
}

/** With it the agents that lack a key: this process may have one. Those that a person holds stay held. */
async function letGo(engine: Engine, id: string, { held }: Run): Promise<void> {
  const waiting = (await descendantsOf(engine.store, id)).filter((agent) => agent.held);
  for (const { run } of waiting) {
    const agent = await engine.load(run);
    if (agent !== undefined && missingKey(agent) !== undefined) await unpause(engine, run);
  }
  if (held !== undefined) await unpause(engine, id);
}

const unpause = (engine: Engine, run: string) =>
  engine.submit(run, { type: "unpause", at: Date.now(), by: "cli" });

/** The server drives it already; there is only something to see. */
async function resumeOnServer(
  server: ServerClient,
  given: string,
  { flags, show }: { readonly flags: Flags; readonly show: Show },
): Promise<number> {
  const { script, model, config } = flags;
  if ([script, model, config].some((flag) => flag !== undefined))
    throw usageError(
      `the server at ${server.url} drives the run with what it was started with (stop it first)`,
    );
  await using store = await openStore({ store: flags.store, readOnly: true });
  const { id, run: before } = await loadRun(store, given);
  if (before.held !== undefined)
    await sayOnServer(server, id, { type: "unpause", at: Date.now(), by: "cli" });
  return await followOnServer(server, { store, id, before, show, title: `following ${id}` });
}
