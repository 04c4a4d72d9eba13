// `packloop export` and `packloop import`: a run as one file, from one store to another.

import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { Command } from "commander";
import { canonical, type Json } from "../../base/json.ts";
import type { TurnRow } from "../../core/facts.ts";
import type { Store } from "../../engine/ports.ts";
import { turnsOf } from "../../host/stored-runs.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { note, write } from "../output.ts";
import { reasonOf } from "../read-file.ts";
import { wholeRun } from "../runs/load-run.ts";
import { openStore } from "../runs/open-store.ts";
import { portableSetup, type RunFile, readRunFile, runLines } from "../runs/run-file.ts";

export function exportCommand(): Command {
  return new Command()
    .description("Write a run as one JSONL file: its pack, its settings and every turn.")
    .argument("<run>", "run, or a unique prefix of it; @ is the last one")
    .option("--out <file>", "where to write it (standard output)")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop export @ --out run.jsonl\n  packloop export r_01 | gzip > run.jsonl.gz\n\nExit codes: 0 written, 2 bad input, 5 no such run",
    )
    .action(async (given: string, flags: { out?: string; store?: string }) => {
      await using store = await openStore({ store: flags.store, readOnly: true });
      const record = await wholeRun(store, given);
      const lines = runLines(store, record);
      if (flags.out === undefined) for await (const line of lines) write(line);
      else {
        await writeWhole(flags.out, lines);
        note(`${record.run}: ${record.turn} turns in ${flags.out}`);
      }
    });
}

/** Under another name until it is complete, so that nobody takes half a file for a whole one. */
async function writeWhole(file: string, lines: AsyncIterable<string>): Promise<void> {
  const partial = `${file}.partial`;
  try {
    const target = openSync(partial, "w");
    try {
      for await (const line of lines) writeSync(target, line);
    } finally {
      closeSync(target);
    }
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw usageError(`cannot write \`${file}\` (${reasonOf(error)})`);
  }
}

export function importCommand(): Command {
  return new Command()
    .description("Take a run from an exported file. A run that is here already is not taken twice.")
    .argument("<file>", "an exported run, or - for standard input")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop import run.jsonl\n  zcat run.jsonl.gz | packloop import -\n\nExit codes: 0 taken or here already, 2 bad input or another run of that name, 6 locked",
    )
    .action(async (file: string, flags: { store?: string; json?: true }) => {
      const read = readRunFile(file === "-" ? "stdin" : file, await bytesOf(file));
      await using store = await openStore({ store: flags.store, readOnly: false, create: true });
      const before = await sharedTurns(store, read);
      await take(store, read, before);
      const { run, turns } = read.header;
      const taken = Math.max(0, turns - before);
      if (flags.json === true) write(`${JSON.stringify({ run, turns, taken })}\n`);
      else write(taken === 0 ? `${run} is here already\n` : `${run}: ${taken} turns taken\n`);
    });
}

async function bytesOf(file: string): Promise<Buffer> {
  try {
    if (file !== "-") return readFileSync(file);
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  } catch (error) {
    throw usageError(`cannot open \`${file}\` (${reasonOf(error)})`);
  }
}

/** How many turns of the file are here already; refuses when the run here went another way. */
async function sharedTurns(store: Store, { header, rows }: RunFile): Promise<number> {
  const record = await store.record(header.run);
  if (record === undefined) {
    const holder = header.key === null ? undefined : await store.find(header.key);
    if (holder === undefined) return 0;
    throw usageError(
      `run \`${holder}\` has the idempotency key of \`${header.run}\` already (remove one of them)`,
    );
  }
  const shared = Math.min(record.turn, rows.length);
  for await (const row of turnsOf(store, header.run, { from: 1, to: shared }))
    if (!sameTurn(row, rows[row.turn - 1])) throw another(header.run, row.turn);
  if (record.digest !== header.pack.digest) throw another(header.run, shared);
  return shared;
}

const another = (run: string, turn: number): ExitError =>
  new ExitError(
    `another run \`${run}\` is here: they differ at turn ${turn} (nothing was taken; import into another --store)`,
    exits.usage,
  );

const sameTurn = (a: TurnRow, b: TurnRow | undefined): boolean =>
  b !== undefined && canonical(a as unknown as Json) === canonical(b as unknown as Json);

/** All of it or nothing: half a run could be resumed, and would go another way. */
async function take(store: Store, { header, rows, run: end }: RunFile, shared: number): Promise<void> {
  const { run, pack, program, source, earlier, key, setup } = header;
  if (shared >= rows.length) return;
  for (const one of earlier) await store.putProgram(one.digest, one.program, one.source);
  await store.putProgram(pack.digest, program, source);
  const create = {
    digest: pack.digest,
    packId: pack.id,
    packVersion: pack.version,
    setup: portableSetup(setup),
    ...(key !== null && { key }),
  };
  if (!(await store.take({ run, rows, shared, end, create }))) throw another(run, shared + 1);
}
