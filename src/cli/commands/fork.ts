// `packloop fork`: a new run from a turn of another, with edits. The other never changes.

import { Command } from "commander";
import { type Json, type JsonObject, put } from "../../base/json.ts";
import { placeOf } from "../../core/fork.ts";
import type { Program } from "../../core/program.ts";
import type { Run } from "../../core/run.ts";
import { resolveVariables } from "../../core/variables.ts";
import { type ForkRequest, planFork } from "../../engine/fork.ts";
import type { Store } from "../../engine/ports.ts";
import { newRunId } from "../../engine/run-id.ts";
import { type CalledTool, forkAnswer, forkView, type PlannedCall } from "../../host/fork-view.ts";
import { noSettings, settingsIn } from "../../host/run-settings.ts";
import { type LoadedRun, runAt, storedProgram } from "../../host/stored-runs.ts";
import { exits, usageError } from "../exit.ts";
import { loadProgram } from "../load-pack.ts";
import { note, write, writeText } from "../output.ts";
import { beginShow, type DriveFlags, drive, exitOf, summaryFor, withDriveFlags } from "../runs/drive.ts";
import { forkOnServer } from "../runs/fork-on-server.ts";
import { loadRun } from "../runs/load-run.ts";
import { openEngine, openWorlds } from "../runs/open-engine.ts";
import { openStore } from "../runs/open-store.ts";
import { jsonOrText, keyValues, loadScript } from "../runs/read-settings.ts";
import { refusalError } from "../runs/refusal-error.ts";
import { resultText } from "../runs/result-text.ts";
import { runningServer } from "../runs/server-client.ts";
import { showOf } from "../runs/show.ts";
import { adjusted, type SettingFlags } from "../runs/start-terms.ts";
import { inCallersTrace, rememberedTelemetry } from "../runs/telemetry.ts";

interface Flags extends DriveFlags, Pick<SettingFlags, "config" | "model"> {
  readonly set: readonly string[];
  readonly var: readonly string[];
  readonly answer: readonly string[];
  readonly event?: string;
  readonly pack?: string;
  readonly script?: string;
  readonly resetBudget?: true;
  readonly dryRun?: true;
  readonly follow?: true;
  readonly store?: string;
}

export function forkCommand(): Command {
  const each = (value: string, all: readonly string[]) => [...all, value];
  const command = new Command()
    .description("Start a new run from a turn of another one, with edits. The other one never changes.")
    .argument("<run>", "RUN@TURN: the last turn that is copied; RUN alone is its last turn")
    .option("--set <artifact.NAME=value>", "an artifact's value; @file for a file", each, [])
    .option("--var <name=value>", "a variable; @file for a file's text", each, [])
    .option("--event <name>", "the event to go on with, in place of whoever would choose")
    .option(
      "--answer <step=json>",
      "an answer to an open step, in place of the call; @file for a file",
      each,
      [],
    )
    .option("--pack <file>", "another pack to go on with")
    .option("--script <file>", "a script in place of the one the run remembers")
    .option("--model <name>", "another model to go on with")
    .option("--config <file>", "settings in place of those the run remembers")
    .option("--reset-budget", "start with nothing spent")
    .option("--dry-run", "only say which calls the fork would make")
    .option("--follow", "go on driving the fork")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print as JSON");
  return withDriveFlags(command)
    .addHelpText(
      "after",
      "\nExamples:\n  packloop fork @@7 --set artifact.plan=@plan.md --follow\n  packloop fork r_01@7 --event Approved --dry-run\n\nExit codes: 0 made, 2 bad input, 5 no such run, turn or step, 6 locked; with --follow as for packloop run",
    )
    .action(async (given: string, flags: Flags) => {
      process.exitCode = await fork(given, flags);
    });
}

async function fork(given: string, flags: Flags): Promise<number> {
  if (flags.dryRun === true && flags.follow === true)
    throw usageError("give --dry-run or --follow, not both");
  const script = flags.script === undefined ? undefined : loadScript(flags.script);
  if (flags.dryRun === true) return dryRun(given, flags);
  const server = await runningServer(flags.store);
  if (server !== undefined) {
    await using beside = await openStore({ store: flags.store, readOnly: true });
    const requested = await requestOf(beside, given, flags);
    return await forkOnServer(server, { ...requested, flags, script: script?.value, show: showOf(flags) });
  }
  const store = await openStore({ store: flags.store, readOnly: false });
  await using telemetry = await rememberedTelemetry(store, given, (settings) => adjusted(settings, flags));
  const show = showOf(flags);
  const follow = flags.follow === true;
  const worlds = openWorlds({ store: flags.store, script: script?.script });
  await using engine = openEngine({
    worlds,
    store,
    telemetry,
    people: follow,
    idle: !follow,
    ...(follow && { onTurn: show.onTurn }),
  });
  const { request, origin } = await requestOf(store, given, flags);
  const remembered = settingsIn(request.setup) ?? noSettings(".");
  const setup = {
    ...request.setup,
    settings: adjusted(remembered, flags) as unknown as JsonObject,
    ...(script !== undefined && { script: script.value }),
  };
  await worlds.learn(store, origin.id);
  const forked = await inCallersTrace(() => engine.fork({ ...request, setup }));
  if (forked.kind === "refused") throw refusalError(forked.refusal);
  if (flags.json !== true) note(`${request.id}  forked from ${origin.id}@${origin.turn}`);
  // Awaited here: the engine is closed when this function is left.
  if (follow) {
    await beginShow(engine, show, { id: request.id, before: origin.run });
    return await drive(engine, request.id, { show, flags });
  }
  const { run } = forked as Extract<typeof forked, { kind: "done" }>;
  const summary = await summaryFor(engine, request.id, run);
  if (flags.json === true) write(`${JSON.stringify(summary)}\n`);
  else writeText(forkText(resultText(summary), request.id, run));
  return run.final === null ? exits.ok : exitOf(summary);
}

const forkText = (text: string, id: string, run: Run): string =>
  run.final === null ? `${text}  packloop resume ${id}     go on with it\n` : text;

async function dryRun(given: string, flags: Flags): Promise<number> {
  await using store = await openStore({ store: flags.store, readOnly: true });
  const { request, origin } = await requestOf(store, given, flags);
  const plan = await planFork(store, request, Date.now());
  if (plan.kind === "refused") throw refusalError(plan.refusal);
  await using worlds = openWorlds({ store: flags.store });
  const end = await runAt(store, origin.id, origin.record.turn);
  const view = forkView(
    request.id,
    {
      ...{ run: origin.id, turn: origin.turn },
      calls: { cut: origin.run.callsByTool, end: end.callsByTool },
      riskOf: (program, tool) => worlds.riskOf(request.setup, { program, tool }),
    },
    plan,
  );
  const { from, calls, waiting_for: waiting } = view;
  if (flags.json === true) write(`${JSON.stringify(view, null, 2)}\n`);
  else {
    const lines = calls.map((call) => `  step ${call.step}: ${callText(call)}`);
    const head = `a fork of ${from.run}@${from.turn} goes on in ${plan.run.state ?? plan.run.prompt}`;
    const none = waiting.length > 0 ? "  no call; it waits" : "  no call";
    const later = view.origin_called.map(calledText);
    write(`${[head, ...(lines.length === 0 ? [none] : lines), ...later].join("\n")}\n`);
  }
  return exits.ok;
}

const calledText = ({ tool, calls, risk }: CalledTool): string =>
  `  later the origin called ${tool} ${calls === 1 ? "once" : `${calls} times`}${risk.idempotent ? "" : ", not idempotent"}`;

const callText = ({ kind, tool, args, prompt }: PlannedCall): string =>
  kind === "model" ? `the model, with prompt ${prompt}` : `${kind} ${tool ?? ""} ${JSON.stringify(args)}`;

interface Requested {
  readonly request: ForkRequest;
  readonly origin: LoadedRun;
}

async function requestOf(store: Store, given: string, flags: Flags): Promise<Requested> {
  const origin = await loadRun(store, given);
  const pack = flags.pack === undefined ? undefined : await loadProgram(flags.pack);
  const program = pack?.program ?? (await storedProgram(store, origin.run.digest));
  // A cassette belongs to the run it was begun with: another one would write over its steps.
  const { record: _record, ...setup } = origin.record.setup;
  const request: ForkRequest = {
    id: newRunId(Date.now()),
    from: { run: origin.id, turn: origin.turn },
    resetBudget: flags.resetBudget === true,
    variables: variablesOf(program, origin.run, flags.var),
    artifacts: artifactsOf(flags.set),
    answers: answersOf(origin.run, flags.answer),
    setup: { ...setup, ...(flags.pack !== undefined && { file: flags.pack }) },
    ...(flags.event !== undefined && { event: flags.event }),
    ...(pack !== undefined && { pack: { program, digest: pack.digest, source: pack.text } }),
  };
  return { request, origin };
}

function variablesOf(program: Program, run: Run, given: readonly string[]): JsonObject {
  const texts = keyValues(given, "--var");
  return resolveVariables(program, placeOf(run), { values: run.variables, texts }).values;
}

/** Texts as they are: whether they are JSON is the artifact's type to say. */
function artifactsOf(given: readonly string[]): JsonObject {
  const artifacts: Record<string, Json> = {};
  for (const [key, value] of Object.entries(keyValues(given, "--set"))) {
    const name = /^artifact\.(.+)$/s.exec(key)?.[1];
    if (name === undefined) throw usageError(`--set expects artifact.NAME=VALUE, got \`${key}\``);
    put(artifacts, name, value);
  }
  return artifacts;
}

function answersOf(run: Run, given: readonly string[]): NonNullable<ForkRequest["answers"]> {
  return Object.entries(keyValues(given, "--answer")).map(([key, text]) => {
    if (!/^\d{1,9}$/.test(key)) throw usageError(`--answer expects STEP=JSON, got \`${key}\``);
    const step = Number(key);
    const answer = forkAnswer(run, step, jsonOrText(text));
    if (!answer.ok) throw usageError(answer.message);
    return { step, outcome: answer.outcome };
  });
}
