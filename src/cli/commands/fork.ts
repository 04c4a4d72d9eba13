// `packloop fork`: a new run from a turn of another, with edits. The other never changes.

import { Command } from "commander";
import { type Response, readScript } from "../../adapter/script/read-script.ts";
import { replyOf } from "../../adapter/script/scripted.ts";
import { type Json, type JsonObject, put } from "../../base/json.ts";
import type { Outcome } from "../../core/facts.ts";
import { placeOf } from "../../core/fork.ts";
import type { Program } from "../../core/program.ts";
import type { Run } from "../../core/run.ts";
import { summaryOf } from "../../core/summary.ts";
import { resolveVariables } from "../../core/variables.ts";
import { type ForkPlan, type ForkRequest, planFork } from "../../engine/fork.ts";
import type { Store } from "../../engine/ports.ts";
import { exits, usageError } from "../exit.ts";
import { loadProgram } from "../load-pack.ts";
import { note, write } from "../output.ts";
import { drive, exitOf, resultText, showOf, summaryFor } from "../runs/drive.ts";
import { type LoadedRun, loadRun, storedProgram } from "../runs/load-run.ts";
import { openEngine } from "../runs/open-engine.ts";
import { openStore } from "../runs/open-store.ts";
import { jsonOrText, keyValues, loadScript } from "../runs/read-settings.ts";
import { refusalError } from "../runs/refusal-text.ts";
import { newRunId } from "../runs/run-id.ts";

interface Flags {
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
  readonly json?: true;
}

export function forkCommand(): Command {
  const each = (value: string, all: readonly string[]) => [...all, value];
  return new Command()
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
    .option("--reset-budget", "start with nothing spent")
    .option("--dry-run", "only say which calls the fork would make")
    .option("--follow", "go on driving the fork")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print as JSON")
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
  const store = await openStore({ store: flags.store, readOnly: false });
  const show = showOf(flags.json === true);
  const follow = flags.follow === true;
  await using engine = openEngine({
    store,
    people: follow,
    idle: !follow,
    ...(follow && { onTurn: show.onTurn }),
    ...(script !== undefined && { script: script.script }),
  });
  const { request, origin } = await requestOf(store, given, flags);
  const setup = { ...request.setup, ...(script !== undefined && { script: script.value }) };
  const forked = await engine.fork({ ...request, setup });
  if (forked.kind === "refused") throw refusalError(forked.refusal);
  if (flags.json !== true) note(`${request.id}  forked from ${origin.id}@${origin.turn}`);
  // Awaited here: the engine is closed when this function is left.
  if (follow) return await drive(engine, request.id, show);
  const { run } = forked as Extract<typeof forked, { kind: "done" }>;
  const summary = await summaryFor(engine, request.id, run);
  write(
    flags.json === true ? `${JSON.stringify(summary)}\n` : forkText(resultText(summary), request.id, run),
  );
  return run.final === null ? exits.ok : exitOf(summary);
}

const forkText = (text: string, id: string, run: Run): string =>
  run.final === null ? `${text}  packloop resume ${id}     go on with it\n` : text;

async function dryRun(given: string, flags: Flags): Promise<number> {
  await using store = await openStore({ store: flags.store, readOnly: true });
  const { request, origin } = await requestOf(store, given, flags);
  const plan = await planFork(store, request, Date.now());
  if (plan.kind === "refused") throw refusalError(plan.refusal);
  const calls = callsOf(plan.run);
  const from = { run: origin.id, turn: origin.turn };
  const waiting = waitingOf(request.id, plan);
  if (flags.json === true)
    write(
      `${JSON.stringify({ dry_run: true, from, state: plan.run.state, calls, waiting_for: waiting }, null, 2)}\n`,
    );
  else {
    const lines = calls.map((call) => `  step ${call.step}: ${callText(call)}`);
    const head = `a fork of ${from.run}@${from.turn} goes on in ${plan.run.state ?? plan.run.prompt}`;
    const none = waiting.length > 0 ? "  no call; it waits" : "  no call";
    write(`${[head, ...(lines.length === 0 ? [none] : lines)].join("\n")}\n`);
  }
  return exits.ok;
}

interface PlannedCall {
  readonly step: number;
  readonly kind: "model" | "tool" | "agent";
  readonly state: string | null;
  readonly prompt: string;
  readonly tool?: string;
  readonly args?: Json;
}

/** The first calls; what follows depends on their answers. */
function callsOf(run: Run): readonly PlannedCall[] {
  return Object.entries(run.open).flatMap(([step, { ask, hold }]): readonly PlannedCall[] => {
    if (hold !== null) return [];
    const place = { step: Number(step), state: run.state, prompt: run.prompt };
    if (ask.kind === "model") return [{ ...place, kind: ask.kind }];
    if (ask.kind !== "tool" && ask.kind !== "agent") return [];
    return [{ ...place, kind: ask.kind, tool: ask.tool, args: ask.args }];
  });
}

const callText = ({ kind, tool, args, prompt }: PlannedCall): string =>
  kind === "model" ? `the model, with prompt ${prompt}` : `${kind} ${tool ?? ""} ${JSON.stringify(args)}`;

function waitingOf(id: string, { run, program }: Extract<ForkPlan, { kind: "planned" }>) {
  return summaryOf(id, { id: program.id, version: program.version, digest: run.digest }, run).waiting_for;
}

interface Requested {
  readonly request: ForkRequest;
  readonly origin: LoadedRun;
}

async function requestOf(store: Store, given: string, flags: Flags): Promise<Requested> {
  const origin = await loadRun(store, given);
  const pack = flags.pack === undefined ? undefined : await loadProgram(flags.pack);
  const program = pack?.program ?? (await storedProgram(store, origin.run.digest));
  const request: ForkRequest = {
    id: newRunId(Date.now()),
    from: { run: origin.id, turn: origin.turn },
    resetBudget: flags.resetBudget === true,
    variables: variablesOf(program, origin.run, flags.var),
    artifacts: artifactsOf(flags.set),
    answers: answersOf(origin.run, flags.answer),
    setup: { ...origin.record.setup, ...(flags.pack !== undefined && { file: flags.pack }) },
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
    const value = jsonOrText(text);
    const outcome: Outcome =
      run.open[step]?.ask.kind === "model"
        ? { ok: true, value: modelReply(step, value) }
        : { ok: true, value };
    return { step, outcome };
  });
}

/** A model's answer is written as in a script: a text, or an entry with text, calls, artifacts, event. */
function modelReply(step: number, value: Json): Json {
  const entry = typeof value === "string" ? { text: value } : value;
  const [problem] = readScript({ states: { answer: [entry] } }).problems;
  if (problem !== undefined)
    throw usageError(`the answer to step ${step} is not one of a model: ${problem.message}`);
  return replyOf(entry as unknown as Response, step) as unknown as Json;
}
