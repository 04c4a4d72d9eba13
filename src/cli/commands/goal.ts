// `packloop goal`: the built-in pack that frames a goal, plans, acts and reflects, run like any other pack.

import { Command, InvalidArgumentError } from "commander";
import { emptyRun } from "../../core/run.ts";
import type { StartRequest } from "../../engine/engine.ts";
import { newRunId } from "../../engine/run-id.ts";
import { goalPack } from "../../goal/goal-pack.ts";
import { goalSetup } from "../../host/goal-claim.ts";
import { openPack } from "../../pack/open-pack.ts";
import { usageError } from "../exit.ts";
import type { LoadedPack } from "../load-pack.ts";
import { beginShow, type DriveFlags, drive, withDriveFlags } from "../runs/drive.ts";
import { openEngine, openWorlds } from "../runs/open-engine.ts";
import { openStore } from "../runs/open-store.ts";
import { loadScript } from "../runs/read-settings.ts";
import { refusalError } from "../runs/refusal-error.ts";
import { runOnServer } from "../runs/run-on-server.ts";
import { runningServer } from "../runs/server-client.ts";
import { showOf } from "../runs/show.ts";
import { type RunConfig, runConfigFor, type SettingFlags, startTerms } from "../runs/start-terms.ts";
import { inCallersTrace, openTelemetry } from "../runs/telemetry.ts";

interface Flags extends DriveFlags, SettingFlags {
  readonly tools?: readonly string[];
  readonly maxSteps: number;
  readonly maxReframes: number;
  readonly script?: string;
  readonly store?: string;
}

/** Where settings are looked for: beside a pack of this name there would be. */
const FILE = "goal.pack.json";

export function goalCommand(): Command {
  const command = new Command()
    .description("Work towards a goal: frame it, plan, act with one tool at a time, and reflect.")
    .argument("<goal>", "what is to be reached, in words")
    .option("--tools <names>", "tools of packloop.yaml that may be used (all of them)", names)
    .option("--max-steps <n>", "tool actions the run may take", count(1), 20)
    .option("--max-reframes <n>", "how often the goal may be framed anew", count(0), 2)
    .option("--script <file>", "answers of a scripted model and tools")
    .option("--model <name>", "the model, like anthropic/claude-sonnet-5")
    .option("--config <file>", "settings, in place of packloop.yaml in this folder")
    .option("--record <file>", "write what models and tools answer to a cassette")
    .option("--replay <file>", "take the answers of models and tools from a cassette")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "one JSON object per turn, the summary last");
  return withDriveFlags(command)
    .addHelpText(
      "after",
      [
        "",
        "Examples:",
        '  packloop goal "find out why the tests fail" --tools read_file,run_tests --max-steps 8',
        '  packloop goal "write a summary of notes.md" --tools read_file --script answers.json --json',
        "",
        "Exit codes: 0 reached, 1 failed, 2 bad input, 6 locked, 10 waiting, 11 steps spent, 12 cancelled, 130 or 143 paused",
      ].join("\n"),
    )
    .action(async (goal: string, flags: Flags) => {
      process.exitCode = await pursue(goal, flags);
    });
}

async function pursue(goal: string, flags: Flags): Promise<number> {
  if (goal.trim() === "") throw usageError("the goal is empty (say what is to be reached)");
  const config = runConfigFor(FILE, flags);
  const script = flags.script === undefined ? undefined : loadScript(flags.script);
  const scripted = Object.keys(script?.script.tools ?? {});
  const loaded = goalProgram(toolsOf(config, scripted, flags.tools), flags);
  const server = await runningServer(flags.store);
  if (server !== undefined) {
    const place = { prompt: undefined, agent: undefined, key: undefined, limits: {}, beside: undefined };
    const asked = { variables: { goal }, input: goal, script: script?.value, goalSteps: flags.maxSteps };
    return runOnServer(server, flags, { pack: loaded.text, file: FILE, ...place, ...asked });
  }
  const worlds = openWorlds({ store: flags.store, script: script?.script });
  const { program, digest, text } = loaded;
  const terms = await startTerms(worlds, { program, config, script: script?.script, flags, limits: {} });
  await using telemetry = await openTelemetry(config.settings.telemetry);
  const store = await openStore({ store: flags.store, readOnly: false, create: true });
  const show = showOf(flags);
  await using engine = openEngine({
    worlds,
    store,
    telemetry,
    people: true,
    onTurn: show.onTurn,
    ...(flags.stream === true && { onDelta: show.onDelta }),
  });
  const id = newRunId(Date.now());
  const request: StartRequest = {
    id,
    program,
    digest,
    source: text,
    setup: {
      file: FILE,
      ...goalSetup(flags.maxSteps),
      ...terms.setup,
      ...(script !== undefined && { script: script.value }),
    },
    input: { mode: "autonomous", variables: { goal }, input: goal, ...terms.input },
  };
  const started = await inCallersTrace(() => engine.start(request));
  if (started.kind === "refused") throw refusalError(started.refusal);
  await beginShow(engine, show, { id, before: emptyRun, title: `${id}  ${program.id} ${program.version}` });
  return await drive(engine, id, { show, flags });
}

function toolsOf(
  { settings }: RunConfig,
  scripted: readonly string[],
  wanted: readonly string[] | undefined,
): readonly string[] {
  const bound = [...new Set([...Object.keys(settings.tools), ...scripted])];
  if (bound.length === 0)
    throw usageError("no tool is bound (bind some under `tools:` in packloop.yaml; see docs/tools.md)");
  const unknown = (wanted ?? []).filter((name) => !bound.includes(name));
  if (unknown.length > 0)
    throw usageError(`nothing is bound to \`${unknown.join("`, `")}\` (bound are ${bound.join(", ")})`);
  return wanted ?? bound;
}

function goalProgram(tools: readonly string[], { maxSteps, maxReframes }: Flags): LoadedPack {
  const text = JSON.stringify(goalPack({ tools, stepsMax: maxSteps, reframesMax: maxReframes }), null, 2);
  const pack = openPack(text, { file: FILE });
  if (!pack.ok) throw pack.toError();
  return { program: pack.program, digest: pack.digest, text };
}

const names = (value: string): readonly string[] => {
  const list = value.split(",").map((name) => name.trim());
  if (list.some((name) => name === ""))
    throw new InvalidArgumentError("expected names with commas between them");
  return [...new Set(list)];
};

const count =
  (least: number) =>
  (value: string): number => {
    const number = Number(value);
    if (!Number.isSafeInteger(number) || number < least)
      throw new InvalidArgumentError(`\`${value}\` is not a whole number from ${least} on`);
    return number;
  };
