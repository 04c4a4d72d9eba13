// `packloop import`: a run from an exported file. Where a server has the store, the server takes it.

import { readFileSync } from "node:fs";
import { Command } from "commander";
import { readRunFile } from "../../host/run-file.ts";
import { type TakenRun, takeRun } from "../../host/take-run.ts";
import { usageError } from "../exit.ts";
import { write } from "../output.ts";
import { reasonOf } from "../read-file.ts";
import { openStore } from "../runs/open-store.ts";
import { runningServer } from "../runs/server-client.ts";

interface Flags {
  readonly store?: string;
  readonly json?: true;
}

export function importCommand(): Command {
  return new Command()
    .description("Take a run from an exported file. A run that is here already is not taken twice.")
    .argument("<file>", "an exported run, or - for standard input")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop import run.jsonl\n  zcat run.jsonl.gz | packloop import -\n\nA server that has the store takes the run, with its own model and tools, and goes on with it.\n\nExit codes: 0 taken or here already, 2 bad input or another run of that name, 4 not permitted, 6 locked",
    )
    .action(async (file: string, flags: Flags) => {
      const { agents = [], ...own } = await imported(file, flags.store);
      if (flags.json === true) write(`${JSON.stringify({ ...own, ...(agents.length > 0 && { agents }) })}\n`);
      else write([own, ...agents].map(takenLine).join(""));
    });
}

async function imported(
  file: string,
  path: string | undefined,
): Promise<TakenRun & { readonly agents?: readonly TakenRun[] }> {
  const name = file === "-" ? "stdin" : file;
  const bytes = await bytesOf(file);
  const read = readRunFile(bytes);
  if (!read.ok) throw usageError(`\`${name}\` is not a run that can be taken: ${read.why}`);
  const server = await runningServer(path);
  if (server !== undefined) return server.take(bytes);
  await using store = await openStore({ store: path, readOnly: false, create: true });
  const taken = await takeRun(store, read.tree);
  if (!taken.ok) throw usageError(taken.why);
  return { ...taken.run, agents: taken.agents };
}

const takenLine = ({ run, taken }: TakenRun): string =>
  taken === 0 ? `${run} is here already\n` : `${run}: ${taken} turns taken\n`;

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
