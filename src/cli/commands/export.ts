// `packloop export`: a run as one file, for another store, a browser or a test.

import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Command, InvalidArgumentError } from "commander";
import { isoTime } from "../../base/iso-time.ts";
import { exportedTest } from "../../core/exported-test.ts";
import type { TurnRow } from "../../core/facts.ts";
import type { RunRecord, Store } from "../../engine/ports.ts";
import { systemClock } from "../../engine/system-clock.ts";
import { treeLines } from "../../host/run-file.ts";
import { storedProgram, turnsOf } from "../../host/stored-runs.ts";
import { usageError } from "../exit.ts";
import { note, write } from "../output.ts";
import { reasonOf } from "../read-file.ts";
import { wholeRun } from "../runs/load-run.ts";
import { openWorlds } from "../runs/open-engine.ts";
import { openStore } from "../runs/open-store.ts";
import { runPage } from "../runs/run-page.ts";

export function exportCommand(): Command {
  return new Command()
    .description("Write a run as one JSONL file: its pack, its settings, every turn, and its agents' runs.")
    .argument("<run>", "run, or a unique prefix of it; @ is the last one")
    .option("--out <file>", "where to write it (standard output)")
    .option("--html", "as one page that shows the run by itself, without a server")
    .option("--test", "as a test of its pack, for packloop test")
    .option("--no-redact", "with --html: also what looks like a secret")
    .option("--from <turn>", "with --html: turns before it without what models and tools said", turnNumber)
    .option("--to <turn>", "with --html: the last turn", turnNumber)
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop export @ --out run.jsonl\n  packloop export r_01 --html --out run.html\n  packloop export r_01 --test --out r_01.test.json\n\nExit codes: 0 written, 2 bad input, 5 no such run",
    )
    .action(async (given: string, flags: ExportFlags) => {
      await using store = await openStore({ store: flags.store, readOnly: true });
      const record = await wholeRun(store, given);
      refuseStretch(record, flags);
      const lines =
        flags.html === true
          ? pageOf(store, record, flags)
          : flags.test === true
            ? testOf(store, record)
            : treeLines(store, record);
      if (flags.out === undefined) for await (const line of lines) write(line);
      else {
        await writeWhole(flags.out, lines);
        note(`${record.run}: ${flags.to ?? record.turn} turns in ${flags.out}`);
      }
    });
}

interface ExportFlags {
  readonly out?: string;
  readonly store?: string;
  readonly html?: true;
  readonly test?: true;
  readonly redact: boolean;
  readonly from?: number;
  readonly to?: number;
}

function turnNumber(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a turn, from 1");
}

function refuseStretch({ run, turn }: RunRecord, flags: ExportFlags): void {
  if (flags.html === true && flags.test === true) throw usageError("--html and --test are two files");
  const { from = 1, to = turn, html } = flags;
  if (html !== true && (flags.to ?? flags.from) !== undefined)
    throw usageError("--from and --to go with --html (a file to import has every turn)");
  if (to > turn) throw usageError(`run \`${run}\` has no turn ${to} (it has 1 to ${turn})`);
  if (from > to) throw usageError(`--from ${from} lies behind the last turn, ${to}`);
}

async function* testOf(
  store: Store,
  { run: id, turn, packId: pack, digest }: RunRecord,
): AsyncGenerator<string> {
  const rows: TurnRow[] = [];
  for await (const row of turnsOf(store, id, { from: 1, to: turn })) rows.push(row);
  const program = await storedProgram(store, digest);
  const made = exportedTest({ id, program, rows, pack: `${pack}.pack.yaml` });
  if (!made.ok) throw usageError(`\`${id}\` cannot become a test: ${made.why}`);
  note(`the test names its pack \`${pack}.pack.yaml\`, beside it (change that where it lies elsewhere)`);
  yield made.text;
}

async function* pageOf(store: Store, record: RunRecord, flags: ExportFlags): AsyncGenerator<string> {
  await using worlds = openWorlds({ store: flags.store });
  await worlds.learn(store, record.run);
  const clean = <T>(value: T): T => (flags.redact ? worlds.redaction.json(value) : value);
  const { from, to } = flags;
  const terms = { clean, from, to, at: isoTime(systemClock().now()) };
  const { html, redacted } = await runPage(store, record, terms);
  if (redacted.length > 0) note(`secrets were taken out of ${redacted.join(", ")} (see --no-redact)`);
  yield html;
}

/** Under another name until it is complete, so that nobody takes half a file for a whole one. */
async function writeWhole(file: string, lines: AsyncIterable<string>): Promise<void> {
  const partial = `${file}.partial`;
  try {
    const target = openSync(partial, "w");
    try {
      // Each in full: one write alone may take less than it was given, and say so only by what it returns.
      for await (const line of lines) writeFileSync(target, line);
      fsyncSync(target);
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
