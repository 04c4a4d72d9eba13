// `packloop fork` on a store that a server holds: what the flags change, as the edits of a request.

import type { JsonObject } from "../../base/json.ts";
import type { ForkRequest } from "../../engine/fork.ts";
import { besideOf } from "../../host/pack-beside.ts";
import type { LoadedRun } from "../../host/stored-runs.ts";
import { exits, usageError } from "../exit.ts";
import { note, write, writeText } from "../output.ts";
import { exitOf } from "./drive.ts";
import { followOnServer } from "./on-server.ts";
import { openStore } from "./open-store.ts";
import { jsonOrText, keyValues } from "./read-settings.ts";
import { resultText } from "./result-text.ts";
import { runPath, type ServerClient } from "./server-client.ts";
import type { Show } from "./show.ts";

interface ForkFlags {
  readonly var: readonly string[];
  readonly answer: readonly string[];
  readonly model?: string;
  readonly config?: string;
  readonly pack?: string;
  readonly resetBudget?: true;
  readonly follow?: true;
  readonly store?: string;
  readonly json?: true;
}

interface ServerFork {
  readonly flags: ForkFlags;
  /** As it would be made here. */
  readonly request: ForkRequest;
  readonly origin: LoadedRun;
  readonly script: JsonObject | undefined;
  readonly show: Show;
}

export async function forkOnServer(server: ServerClient, fork: ServerFork): Promise<number> {
  const { flags, origin, show } = fork;
  if (flags.config !== undefined)
    throw usageError("--config is not taken while a server holds the store (the fork keeps its settings)");
  const { id, turn } = origin;
  const body = { turn, edits: editsOf(fork), reset_budget: flags.resetBudget === true };
  const summary = await server.post(`${runPath(id)}/fork`, body);
  if (flags.json !== true) note(`${summary.run}  forked from ${id}@${turn}`);
  if (flags.follow === true) {
    await using store = await openStore({ store: flags.store, readOnly: true });
    return await followOnServer(server, { store, id: summary.run, before: origin.run, show });
  }
  if (flags.json === true) write(`${JSON.stringify(summary)}\n`);
  else writeText(resultText(summary));
  const goesOn = summary.status === "running" || summary.status === "waiting";
  return goesOn ? exits.ok : exitOf(summary);
}

function packEdit({ source, program }: NonNullable<ForkRequest["pack"]>, file = "pack.yaml"): JsonObject {
  const beside = besideOf(program);
  return { pack: source, file, ...(beside !== undefined && { beside: beside as unknown as JsonObject }) };
}

function editsOf({ flags, request, script }: ServerFork): JsonObject[] {
  const { artifacts = {}, variables = {}, event, pack } = request;
  return [
    ...Object.entries(artifacts).map(([artifact, value]) => ({ artifact, value })),
    ...Object.keys(keyValues(flags.var, "--var")).map((variable) => ({
      variable,
      value: variables[variable] ?? null,
    })),
    ...Object.entries(keyValues(flags.answer, "--answer")).map(([step, text]) => ({
      step: Number(step),
      value: jsonOrText(text),
    })),
    ...(event === undefined ? [] : [{ event }]),
    ...(pack === undefined ? [] : [packEdit(pack, flags.pack)]),
    ...(flags.model === undefined ? [] : [{ model: flags.model }]),
    ...(script === undefined ? [] : [{ script }]),
  ];
}
