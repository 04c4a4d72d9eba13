// `packloop run` and `packloop goal` on a store that a server holds: the server starts the run, with the
// settings of the server, and what it does is shown here.

import { emptyRun } from "../../core/run.ts";
import { exits, usageError } from "../exit.ts";
import { write } from "../output.ts";
import type { DriveFlags } from "./drive.ts";
import { followOnServer, type ServerStart, startOnServer } from "./on-server.ts";
import { openStore } from "./open-store.ts";
import type { ServerClient } from "./server-client.ts";
import { showOf } from "./show.ts";
import type { SettingFlags } from "./start-terms.ts";

interface Flags extends DriveFlags, SettingFlags {
  readonly store?: string;
  readonly detach?: true;
}

export async function runOnServer(server: ServerClient, flags: Flags, start: ServerStart): Promise<number> {
  const { model, config, record, replay } = flags;
  if ([model, config, record, replay].some((flag) => flag !== undefined))
    throw usageError(`the server at ${server.url} has the store and runs packs with its own settings`);
  const summary = await startOnServer(server, start);
  const { run: id, turns } = summary;
  if (flags.detach === true) {
    if (flags.json === true) write(`${JSON.stringify(summary)}\n`);
    else write(`${id} ${turns === 1 ? "started" : summary.status} at ${server.url}\n`);
    return exits.ok;
  }
  await using store = await openStore({ store: flags.store, readOnly: true });
  const title = `${id}  ${summary.pack.id} ${summary.pack.version}`;
  return await followOnServer(server, { store, id, before: emptyRun, show: showOf(flags), title });
}
