// `packloop run`

import { Command, InvalidArgumentError } from "commander";
import { must } from "../../base/assert.ts";
import type { Limits } from "../../core/facts.ts";
import type { Program } from "../../core/program.ts";
import { emptyRun } from "../../core/run.ts";
import { packLimits } from "../../core/start.ts";
import type { Engine, StartRequest } from "../../engine/engine.ts";
import { newRunId } from "../../engine/run-id.ts";
import { besideOf } from "../../host/pack-beside.ts";
import { type ExitError, exits, usageError } from "../exit.ts";
import { loadProgram } from "../load-pack.ts";
import { onePack } from "../one-pack.ts";
import { write } from "../output.ts";
import { beginShow, type DriveFlags, drive, summaryFor, withDriveFlags } from "../runs/drive.ts";
import { openEngine, openWorlds } from "../runs/open-engine.ts";
import { openStore } from "../runs/open-store.ts";
import { loadScript, startVariables } from "../runs/read-settings.ts";
import { refusalError } from "../runs/refusal-error.ts";
import { refuseEarly } from "../runs/refuse-early.ts";
import { refuseEndless } from "../runs/refuse-endless.ts";
import { runOnServer } from "../runs/run-on-server.ts";
import { runningServer } from "../runs/server-client.ts";
import { showOf } from "../runs/show.ts";
import { startPlace } from "../runs/start-place.ts";
import { runConfigFor, type SettingFlags, startTerms } from "../runs/start-terms.ts";
import { inCallersTrace, openTelemetry } from "../runs/telemetry.ts";

interface Flags extends DriveFlags, SettingFlags {
  readonly var: readonly string[];
  readonly varsFile?: string;
  readonly input?: string;
  readonly prompt?: string;
  readonly agent?: string;
  readonly script?: string;
  readonly store?: string;
  readonly detach?: true;
  readonly unattended?: true;
  readonly idempotencyKey?: string;
  readonly budgetVisits?: number;
  readonly budgetCalls?: number;
  readonly budgetSeconds?: number;
  readonly budgetModelCalls?: number;
  readonly budgetTokens?: number;
  readonly budgetCost?: number;
}

export function runCommand(): Command {
  const command = new Command()
    .description("Run a pack's workflow as a durable loop. Kill it at any moment; `packloop resume` goes on.")
    .argument("[pack]", "the pack, or - for standard input; may be left out in a folder that holds one")
    .option(
      "--var <name=value>",
      "a variable; @file for a file's text",
      (value, all: readonly string[]) => [...all, value],
      [],
    )
    .option("--vars-file <file>", "variables as YAML or JSON (- for standard input)")
    .option("--input <text>", "the task, given to the first state and to every fresh conversation")
    .option("--prompt <name>", "which prompt of a pack without a workflow")
    .option("--agent <name>", "run one agent of the pack: its part of the workflow, or its prompt")
    .option("--script <file>", "answers of a scripted model and tools")
    .option("--model <name>", "the model, like anthropic/claude-sonnet-5")
    .option("--config <file>", "settings, in place of packloop.yaml beside the pack")
    .option("--record <file>", "write what models and tools answer to a cassette")
    .option("--replay <file>", "take the answers of models and tools from a cassette")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--detach", "start only; `packloop resume` drives it")
    .option("--unattended", "refuse a pack of which some run may not end by itself")
    .option("--idempotency-key <key>", "the same key finds the same run and goes on with it")
    .option("--budget-visits <n>", "tighter max_total_visits", wholePositive)
    .option("--budget-calls <n>", "tighter max_tool_calls", wholePositive)
    .option("--budget-seconds <n>", "tighter max_wall_time_sec", positive)
    .option("--budget-model-calls <n>", "tighter max_model_calls", wholePositive)
    .option("--budget-tokens <n>", "tighter max_input_tokens and max_output_tokens, each", wholePositive)
    .option("--budget-cost <usd>", "tighter max_cost_usd", positive)
    .option("--json", "one JSON object per turn, the summary last");
  return withDriveFlags(command)
    .addHelpText(
      "after",
      [
        "",
        "Examples:",
        "  packloop run examples/codegen/codegen.pack.yaml --script examples/codegen/script.yaml --var requirements=…",
        "  packloop run pack.yaml --script script.yaml --json | tail -n 1",
        "",
        "Exit codes: 0 completed, 1 failed, 2 bad input, 6 locked, 10 waiting, 11 budget exhausted, 12 cancelled, 130 or 143 paused",
      ].join("\n"),
    )
    .action(async (pack: string | undefined, flags: Flags) => {
      process.exitCode = await run(onePack(pack), flags);
    });
}

async function run(path: string, flags: Flags): Promise<number> {
  const loaded = await loadProgram(path);
  const script = flags.script === undefined ? undefined : loadScript(flags.script);
  const config = runConfigFor(path, flags);
  const place = startPlace(loaded.program, flags);
  const variables = startVariables(loaded.program, flags, place);
  if (flags.idempotencyKey === "")
    throw usageError("the idempotency key is empty (leave it out, or name one)");
  const limits = limitsOf(flags, loaded.program);
  refuseEarly(loaded, { mode: "autonomous", variables, limits, place });
  if (flags.unattended === true) refuseEndless(loaded.program, place, [limits, config.settings.budgets]);
  const server = await runningServer(flags.store);
  if (server !== undefined) {
    const { input = "", prompt, agent, idempotencyKey: key } = flags;
    const terms = { variables, input, prompt, agent, key, limits, script: script?.value };
    const beside = besideOf(loaded.program);
    return runOnServer(server, flags, { pack: loaded.text, file: path, beside, ...terms });
  }
  const worlds = openWorlds({ store: flags.store, script: script?.script });
  const request = { program: loaded.program, config, script: script?.script, flags, limits };
  // Before there is a store: what cannot start leaves nothing. A run that is found by its key has its terms.
  const early = flags.idempotencyKey === undefined ? await startTerms(worlds, request) : undefined;
  await using telemetry = await openTelemetry(config.settings.telemetry);
  const store = await openStore({ store: flags.store, readOnly: false, create: true });
  const show = showOf(flags);
  await using engine = openEngine({
    worlds,
    store,
    telemetry,
    people: flags.detach !== true,
    idle: flags.detach === true,
    onTurn: show.onTurn,
    ...(flags.stream === true && { onDelta: show.onDelta }),
  });
  const known = flags.idempotencyKey === undefined ? undefined : await store.find(flags.idempotencyKey);
  if (known !== undefined) {
    const before = must(await engine.load(known), "a run that was found exists");
    if (before.digest !== loaded.digest) throw otherPack(known, flags.idempotencyKey ?? "");
    if (flags.detach === true) return await left(engine, known, flags.json === true);
    await beginShow(engine, show, { id: known, before, title: `resuming ${known}` });
    await engine.resume(known);
    return await drive(engine, known, { show, flags });
  }
  const id = newRunId(Date.now());
  const terms = early ?? (await startTerms(worlds, request));
  const start: StartRequest = {
    id,
    program: loaded.program,
    digest: loaded.digest,
    source: loaded.text,
    ...(flags.idempotencyKey !== undefined && { key: flags.idempotencyKey }),
    setup: { file: path, ...terms.setup, ...(script !== undefined && { script: script.value }) },
    input: {
      mode: "autonomous",
      variables,
      input: flags.input ?? "",
      ...terms.input,
      ...place,
    },
  };
  const started = await inCallersTrace(() => engine.start(start));
  if (started.kind === "refused") throw refusalError(started.refusal);
  // Awaited here: the engine is closed when this function is left.
  if (flags.detach === true) return await left(engine, id, flags.json === true);
  const title = `${id}  ${loaded.program.id} ${loaded.program.version}`;
  await beginShow(engine, show, { id, before: emptyRun, title });
  return await drive(engine, id, { show, flags });
}

/** A run keeps the pack it was started with (S3), so the key of one cannot start another. */
const otherPack = (run: string, key: string): ExitError =>
  usageError(
    `the idempotency key \`${key}\` belongs to run \`${run}\`, which was started with another pack (packloop resume ${run} goes on with it; another key starts a new run)`,
  );

/** For whoever drives it later. */
async function left(engine: Engine, id: string, json: boolean): Promise<number> {
  const run = must(await engine.load(id), "a run that was found or started exists");
  const summary = await summaryFor(engine, id, run);
  const hint = `  packloop resume ${id}      go on with it`;
  if (json) write(`${JSON.stringify(summary)}\n`);
  else write(`${id} ${run.turn === 1 ? "started" : summary.status}\n\n${hint}\n`);
  return exits.ok;
}

function limitsOf(flags: Flags, program: Program): Partial<Limits> {
  const { budgetTokens: tokens } = flags;
  const ofPack = packLimits(program);
  return {
    ...(flags.budgetVisits !== undefined && { visits: flags.budgetVisits }),
    ...(flags.budgetCalls !== undefined && { toolCalls: flags.budgetCalls }),
    ...(flags.budgetSeconds !== undefined && { wallMs: flags.budgetSeconds * 1000 }),
    ...(flags.budgetModelCalls !== undefined && { modelCalls: flags.budgetModelCalls }),
    // One figure for both kinds: where the pack allows less of one, that holds.
    ...(tokens !== undefined && { inputTokens: Math.min(tokens, ofPack.inputTokens ?? tokens) }),
    ...(tokens !== undefined && { outputTokens: Math.min(tokens, ofPack.outputTokens ?? tokens) }),
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
