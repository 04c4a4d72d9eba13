// `packloop rm` and `packloop gc`: runs that are wanted no more.

import { Command } from "commander";
import { isoTime } from "../../base/iso-time.ts";
import type { RunRecord, Store } from "../../engine/ports.ts";
import { removeRunFiles } from "../../host/run-files.ts";
import { eachRecord, unlessDamaged } from "../../host/stored-runs.ts";
import { usageError } from "../exit.ts";
import { note, write } from "../output.ts";
import { confirm } from "../runs/confirm.ts";
import { duration } from "../runs/duration.ts";
import { noteDamaged } from "../runs/load-run.ts";
import { localStorePath, openStore } from "../runs/open-store.ts";
import { findRun } from "../runs/run-id.ts";
import { runningServer, type ServerClient } from "../runs/server-client.ts";

/** Runs removed in one transaction; commits that wait come in between. */
const REMOVED_AT_ONCE = 100;
/** Runs of agents under one run. */
const AGENTS_MAX = 100_000;

interface RmFlags {
  readonly yes?: true;
  readonly store?: string;
  readonly json?: true;
}

export function rmCommand(): Command {
  return new Command()
    .description("Remove runs with their whole history. Forks of them stay as they are.")
    .argument("<runs...>", "runs, or unique prefixes of them; @ is the last one")
    .option("--yes", "do not ask")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop rm @ --yes\n  packloop rm r_01 r_02\n\nExit codes: 0 removed, 2 bad input, 5 no such run, 6 locked",
    )
    .action(async (given: readonly string[], flags: RmFlags) => {
      const server = await runningServer(flags.store);
      await using store = await openStore({ store: flags.store, readOnly: server !== undefined });
      const going = new Map<string, Going>();
      for (const one of given) {
        const found = await goingRun(store, one);
        going.set(found.run, found);
        // Agents that worked for it go with it.
        for (const run of await store.names({ prefix: `${found.run}/`, limit: AGENTS_MAX }))
          going.set(run, await goingRun(store, run));
      }
      await confirm(goingText([...going.values()]), flags.yes === true);
      const runs = [...going.keys()];
      if (server === undefined) await removeAll(store, runs, flags.store);
      else await removeOnServer(server, runs);
      if (flags.json === true) write(`${JSON.stringify({ removed: [...going.keys()] })}\n`);
      else write(`removed ${[...going.keys()].join(", ")}\n`);
    });
}

type Going = Pick<RunRecord, "run" | "status">;

/** A damaged run can be removed, too: that is often the way out. */
async function goingRun(store: Store, given: string): Promise<Going> {
  const { run, turn } = await findRun(store, given);
  if (turn !== undefined) throw usageError(`\`${given}\` names a turn (expected a whole run: \`${run}\`)`);
  return (await unlessDamaged(() => store.record(run))) ?? { run, status: "failed" };
}

interface GcFlags extends RmFlags {
  readonly keep: number;
  readonly dryRun?: true;
}

export function gcCommand(): Command {
  return new Command()
    .description("Remove finished runs that are older than --keep, and give their space back.")
    .option("--keep <time>", "how long finished runs stay: 30d, 12h, 90m, 0d", duration, duration("30d"))
    .option("--dry-run", "only say what would go")
    .option("--yes", "do not ask")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop gc --keep 30d --dry-run\n  packloop gc --keep 12h --yes\n\nExit codes: 0 done, 2 bad input, 6 locked",
    )
    .action(async (flags: GcFlags) => {
      const server = await runningServer(flags.store);
      const readOnly = flags.dryRun === true || server !== undefined;
      await using store = await openStore({ store: flags.store, readOnly });
      const old = await olderThan(store, Date.now() - flags.keep);
      const runs = old.map(({ run }) => run);
      if (flags.dryRun === true) {
        if (flags.json === true)
          write(`${JSON.stringify({ dry_run: true, removed: runs, freed_bytes: 0 })}\n`);
        else write(old.length === 0 ? "nothing to remove\n" : old.map(oldLine).join(""));
        return;
      }
      if (runs.length > 0) await confirm(goingText(old), flags.yes === true);
      const freed = server === undefined ? await collected(store, runs, flags.store) : 0;
      if (server !== undefined) {
        await removeOnServer(server, runs);
        note(`the server at ${server.url} holds the store: space is given back when gc runs without it`);
      }
      if (flags.json === true)
        write(`${JSON.stringify({ dry_run: false, removed: runs, freed_bytes: freed })}\n`);
      else write(`removed ${counted(runs.length)}, ${freed} bytes given back\n`);
    });
}

/** A tree of runs goes as one: an agent's run stays as long as the run it worked for, and the other way. */
async function collected(store: Store, runs: readonly string[], path: string | undefined): Promise<number> {
  await removeAll(store, runs, path);
  return store.collect();
}

/** Those of agents go with the run that called them. */
async function removeOnServer(server: ServerClient, runs: readonly string[]): Promise<void> {
  const gone = new Set<string>();
  for (const run of runs.toSorted((a, b) => a.length - b.length)) {
    if (gone.has(run)) continue;
    for (const one of await server.remove(run)) gone.add(one);
  }
}

async function olderThan(store: Store, limit: number): Promise<readonly RunRecord[]> {
  const old: RunRecord[] = [];
  const kept = new Set<string>();
  const treeOf = ({ run, parent }: RunRecord): string => (parent === null ? run : (run.split("/")[0] ?? run));
  for await (const record of eachRecord(store, {}, noteDamaged)) {
    const isOver = record.status !== "running" && record.status !== "waiting";
    if (isOver && record.updatedAt < limit) old.push(record);
    else kept.add(treeOf(record));
  }
  return old.filter((record) => !kept.has(treeOf(record)));
}

async function removeAll(store: Store, runs: readonly string[], path: string | undefined): Promise<void> {
  for (let from = 0; from < runs.length; from += REMOVED_AT_ONCE) {
    const going = runs.slice(from, from + REMOVED_AT_ONCE);
    await store.remove(going);
    await removeRunFiles(localStorePath(path), going);
  }
}

function goingText(records: readonly Going[]): string {
  const open = records.filter(({ status }) => status === "running" || status === "waiting");
  const unfinished = open.length === 0 ? "" : `, ${open.length} of them not finished`;
  const names = records.slice(0, 5).map(({ run }) => `\`${run}\``);
  return `this removes ${counted(records.length)} (${names.join(", ")}${records.length > 5 ? ", …" : ""})${unfinished}`;
}

const oldLine = ({ run, status, packId, updatedAt }: RunRecord): string =>
  `${run}  ${status.padEnd(16)} ${packId.padEnd(20)} ${isoTime(updatedAt)}\n`;

const counted = (count: number): string => `${count} ${count === 1 ? "run" : "runs"}`;
