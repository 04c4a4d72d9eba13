// `packloop run`

import { Command, InvalidArgumentError } from "commander";
import { must } from "../../base/assert.ts";
import type { Limits } from "../../core/facts.ts";
import type { Engine } from "../../engine/engine.ts";
import { exits } from "../exit.ts";
import { loadProgram } from "../load-pack.ts";
import { note, write } from "../output.ts";
import { drive, showOf, summaryFor } from "../runs/drive.ts";
import { openEngine } from "../runs/open-engine.ts";
import { openStore } from "../runs/open-store.ts";
import { loadScript, startVariables } from "../runs/read-settings.ts";
import { refusalError } from "../runs/refusal-text.ts";
import { newRunId } from "../runs/run-id.ts";

interface Flags {
  readonly var: readonly string[];
  readonly varsFile?: string;
  readonly input?: string;
  readonly prompt?: string;
  readonly script?: string;
  readonly store?: string;
  readonly detach?: true;
  readonly idempotencyKey?: string;
  readonly json?: true;
  readonly budgetVisits?: number;
  readonly budgetCalls?: number;
  readonly budgetSeconds?: number;
  readonly budgetModelCalls?: number;
  readonly budgetCost?: number;
}

export function runCommand(): Command {
  return new Command()
    .description("Run a pack's workflow as a durable loop. Kill it at any moment; `packloop resume` goes on.")
    .argument("<pack>", "the pack, or - for standard input")
    .option(
      "--var <name=value>",
      "a variable; @file for a file's text",
      (value, all: readonly string[]) => [...all, value],
      [],
    )
    .option("--vars-file <file>", "variables as YAML or JSON (- for standard input)")
    .option("--input <text>", "the task, given to the first state and to every fresh conversation")
    .option("--prompt <name>", "which prompt of a pack without a workflow")
    .option("--script <file>", "answers of a scripted model and tools")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--detach", "start only; `packloop resume` drives it")
    .option("--idempotency-key <key>", "the same key finds the same run and goes on with it")
    .option("--budget-visits <n>", "tighter max_total_visits", wholePositive)
    .option("--budget-calls <n>", "tighter max_tool_calls", wholePositive)
    .option("--budget-seconds <n>", "tighter max_wall_time_sec", positive)
    .option("--budget-model-calls <n>", "tighter max_model_calls", wholePositive)
    .option("--budget-cost <usd>", "tighter max_cost_usd", positive)
    .option("--json", "one JSON object per turn, the summary last")
    .addHelpText(
      "after",
      [
        "",
        "Examples:",
        "  packloop run examples/codegen/codegen.pack.yaml --script examples/codegen/script.yaml --var requirements=…",
        "  packloop run pack.yaml --script script.yaml --json | tail -n 1",
        "",
        "Exit codes: 0 completed, 1 failed, 2 bad input, 6 locked, 10 waiting, 11 budget exhausted, 12 cancelled, 130 paused",
      ].join("\n"),
    )
    .action(async (pack: string, flags: Flags) => {
      process.exitCode = await run(pack, flags);
    });
}

async function run(path: string, flags: Flags): Promise<number> {
  const loaded = await loadProgram(path);
  const script = flags.script === undefined ? undefined : loadScript(flags.script);
  const variables = startVariables(loaded.program, flags);
  const store = await openStore({ store: flags.store, readOnly: false, create: true });
  const show = showOf(flags.json === true);
  await using engine = openEngine({
    store,
    people: flags.detach !== true,
    idle: flags.detach === true,
    onTurn: show.onTurn,
    ...(script !== undefined && { script: script.script }),
  });
  const known = flags.idempotencyKey === undefined ? undefined : await store.find(flags.idempotencyKey);
  if (known !== undefined) {
    if (flags.detach === true) return await left(engine, known);
    await engine.resume(known);
    return await drive(engine, known, show);
  }
  const id = newRunId(Date.now());
  const started = await engine.start({
    id,
    program: loaded.program,
    digest: loaded.digest,
    source: loaded.text,
    ...(flags.idempotencyKey !== undefined && { key: flags.idempotencyKey }),
    setup: { file: path, ...(script !== undefined && { script: script.value }) },
    input: {
      mode: "autonomous",
      variables,
      input: flags.input ?? "",
      limits: limitsOf(flags),
      ...(flags.prompt !== undefined && { prompt: flags.prompt }),
    },
  });
  if (started.kind === "refused") throw refusalError(started.refusal);
  if (flags.json !== true) note(`${id}  ${loaded.program.id} ${loaded.program.version}`);
  // Awaited here: the engine is closed when this function is left.
  if (flags.detach !== true) return await drive(engine, id, show);
  return await left(engine, id);
}

/** For whoever drives it later. */
async function left(engine: Engine, id: string): Promise<number> {
  const run = must(await engine.load(id), "a run that was found or started exists");
  write(`${JSON.stringify(await summaryFor(engine, id, run))}\n`);
  return exits.ok;
}

function limitsOf(flags: Flags): Partial<Limits> {
  return {
    ...(flags.budgetVisits !== undefined && { visits: flags.budgetVisits }),
    ...(flags.budgetCalls !== undefined && { toolCalls: flags.budgetCalls }),
    ...(flags.budgetSeconds !== undefined && { wallMs: flags.budgetSeconds * 1000 }),
    ...(flags.budgetModelCalls !== undefined && { modelCalls: flags.budgetModelCalls }),
    ...(flags.budgetCost !== undefined && { costUsd: flags.budgetCost }),
  };
}

function wholePositive(value: string): number {
  const number = positive(value);
  if (!Number.isInteger(number)) throw new InvalidArgumentError(`\`${value}\` is not a whole number`);
  return number;
}

function positive(value: string): number {
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0)
    throw new InvalidArgumentError(`\`${value}\` is not a positive number`);
  return number;
}
