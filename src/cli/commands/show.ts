// `packloop ls`, `show`, `trace`: looking at runs without touching them.

import { Command, InvalidArgumentError, Option } from "commander";
import { isoTime } from "../../base/iso-time.ts";
import type { Status } from "../../core/facts.ts";
import { childrenOf, summaryOf } from "../../core/summary.ts";
import { rowsWithChildren, type TraceRow, Tracer } from "../../core/trace.ts";
import { type TraceFormat, traceText } from "../../core/trace-text.ts";
import type { RunRecord } from "../../engine/ports.ts";
import { systemClock } from "../../engine/system-clock.ts";
import { runLine } from "../../host/run-line.ts";
import { eachInTree, type TreeRecord } from "../../host/run-tree.ts";
import { fitsWish, runWhere, STATUSES, whereFields } from "../../host/run-where.ts";
import { turnsOf } from "../../host/stored-runs.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { write, writeText } from "../output.ts";
import { agentsOf } from "../runs/agents-of.ts";
import { loadRun, noteDamaged } from "../runs/load-run.ts";
import { openStore } from "../runs/open-store.ts";
import { resultText } from "../runs/result-text.ts";

const STORE = "where runs are kept (./.packloop/runs.db)";

export function lsCommand(): Command {
  return new Command()
    .description("List runs, newest first; the runs of agents stand under the run that called them.")
    .addOption(new Option("--status <status>", "only runs with this status").choices(STATUSES))
    .option("--pack <id>", "only runs of this pack")
    .option("--where <expression>", "only runs that it holds for")
    .option("--limit <n>", "how many", atLeastOne, 50)
    .option("--store <path>", STORE)
    .option("--json", "print as JSON")
    .addHelpText("after", LS_HELP)
    .action(async (flags: ListFlags) => {
      const wanted = wantedBy(flags.where);
      await using store = await openStore({ store: flags.store, readOnly: true });
      const filter = {
        ...(flags.status !== undefined && { status: [flags.status] }),
        ...(flags.pack !== undefined && { packId: flags.pack }),
        wanted,
      };
      const runs: TreeRecord[] = [];
      for await (const one of eachInTree(store, filter, noteDamaged)) {
        runs.push(one);
        if (runs.length === flags.limit) break;
      }
      if (flags.json === true)
        write(
          `${JSON.stringify(
            runs.map(({ record }) => runLine(record)),
            null,
            2,
          )}\n`,
        );
      else writeText(runs.length === 0 ? "no runs\n" : listText(runs));
    });
}

interface ListFlags {
  readonly status?: Status;
  readonly pack?: string;
  readonly where?: string;
  readonly limit: number;
  readonly store?: string;
  readonly json?: true;
}

const LS_HELP = `
An expression compares names (${[...whereFields.keys()].join(", ")}) with =, !=, >, >=, <, <=, ~ (contains)
and !~, and puts comparisons together with and, or, not and brackets. Times are 2026-01-31 or
2026-01-31T12:00:00Z; age and idle are 30s, 15m, 2h or 7d. Counts take in a run's agents.

Examples:
  packloop ls --status waiting
  packloop ls --where 'visits>10 and status=budget_exhausted'
  packloop ls --where 'cost>0.5 and age<7d' --json

Exit codes: 0 listed, 2 bad input, 5 no store`;

function wantedBy(expression: string | undefined): (record: RunRecord) => boolean {
  if (expression === undefined) return () => true;
  const where = runWhere(expression);
  if (!where.ok) throw usageError(`--where: ${where.problem.message}`);
  const wish = { where, now: systemClock().now() };
  return (record) => fitsWish(record, wish);
}

export function showCommand(): Command {
  return new Command()
    .description("Show a run as it is, or as it was after a turn.")
    .argument("<run>", "RUN or RUN@TURN; @ is the last run, @@4 its turn 4")
    .option("--store <path>", STORE)
    .option("--json", "print the summary as JSON")
    .addHelpText("after", "\nExamples:\n  packloop show @\n  packloop show r_01@7 --json")
    .action(async (given: string, flags: { store?: string; json?: true }) => {
      await using store = await openStore({ store: flags.store, readOnly: true });
      const { id, run, record } = await loadRun(store, given);
      const { packId, packVersion, digest } = record;
      const summary = summaryOf(id, { id: packId, version: packVersion, digest }, run);
      if (flags.json === true) write(`${JSON.stringify(summary, null, 2)}\n`);
      else writeText(resultText(summary, await agentsOf(store, summary)));
    });
}

interface TraceFlags {
  readonly format: TraceFormat;
  readonly at?: number;
  readonly columns?: string;
  readonly store?: string;
  readonly json?: true;
}

export function traceCommand(): Command {
  return new Command()
    .description("The way a run took: one row per transition, with the artifacts after it.")
    .argument("<run>", "RUN or RUN@TURN; @ is the last run")
    .addOption(
      new Option("--format <name>", "table, md, csv, json, jsonl")
        .choices(["table", "md", "csv", "json", "jsonl"])
        .default("table"),
    )
    .option("--at <turn>", "only the row of this turn", wholeNumber)
    .option("--columns <names>", "artifacts to show, comma-separated")
    .option("--store <path>", STORE)
    .option("--json", "the same as --format json")
    .addHelpText("after", "\nExamples:\n  packloop trace @\n  packloop trace r_01 --format csv > trace.csv")
    .action(async (given: string, flags: TraceFlags) => {
      await using store = await openStore({ store: flags.store, readOnly: true });
      const { id, turn: last, run } = await loadRun(store, given);
      const tracer = new Tracer();
      const found: TraceRow[] = [];
      for await (const row of turnsOf(store, id, { from: 1, to: last })) found.push(...tracer.take(row));
      const all = rowsWithChildren(found, childrenOf(id, run));
      const rows = flags.at === undefined ? all : all.filter((row) => row.turn === flags.at);
      if (flags.at !== undefined && rows.length === 0)
        throw new ExitError(`turn ${flags.at} of \`${id}\` is no transition`, exits.notFound);
      const columns = flags.columns?.split(",").filter((name) => name !== "");
      const format = flags.json === true ? "json" : flags.format;
      writeText(traceText(rows, format, columns === undefined ? {} : { columns }));
    });
}

function listText(runs: readonly TreeRecord[]): string {
  const names = runs.map(({ record, depth }) => "  ".repeat(depth) + record.run);
  const width = Math.max(...names.map((name) => name.length));
  return runs.map(({ record }, i) => `${(names[i] ?? "").padEnd(width)}  ${recordText(record)}\n`).join("");
}

function recordText(record: RunRecord): string {
  const { status, held, packId, packVersion, state, turn, updatedAt } = record;
  return `${(held ? `${status}, held` : status).padEnd(16)} ${`${packId} ${packVersion}`.padEnd(28)} ${(state ?? "").padEnd(18)} turn ${String(turn).padEnd(6)} ${isoTime(updatedAt)}`;
}

function wholeNumber(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new InvalidArgumentError(`\`${value}\` is not a whole number`);
  return Number(value);
}

function atLeastOne(value: string): number {
  const number = wholeNumber(value);
  if (number === 0) throw new InvalidArgumentError(`\`${value}\` lists nothing`);
  return number;
}
