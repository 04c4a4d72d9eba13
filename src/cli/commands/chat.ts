// `packloop chat`: a conversation in the terminal (S2). The run is as durable as any other; leaving it only
// means that it waits.

import { Command } from "commander";
import type { JsonObject } from "../../base/json.ts";
import { refusalText } from "../../core/refusal-text.ts";
import type { Engine, StartRequest } from "../../engine/engine.ts";
import { newRunId } from "../../engine/run-id.ts";
import { besideOf } from "../../host/pack-beside.ts";
import { usageError } from "../exit.ts";
import { type LoadedPack, loadProgram } from "../load-pack.ts";
import { onePack } from "../one-pack.ts";
import { note } from "../output.ts";
import { chatShow } from "../runs/chat-lines.ts";
import { chatOnServer } from "../runs/chat-on-server.ts";
import { summaryFor } from "../runs/drive.ts";
import { loadRun } from "../runs/load-run.ts";
import type { ServerStart } from "../runs/on-server.ts";
import { openEngine, openWorlds } from "../runs/open-engine.ts";
import { openStore } from "../runs/open-store.ts";
import { loadScript, startVariables } from "../runs/read-settings.ts";
import { refusalError } from "../runs/refusal-error.ts";
import { refuseEarly } from "../runs/refuse-early.ts";
import { runningServer } from "../runs/server-client.ts";
import { startPlace } from "../runs/start-place.ts";
import { adjusted, runConfigFor, type SettingFlags, startTerms } from "../runs/start-terms.ts";
import { type TalkPartner, talk } from "../runs/talk.ts";
import { inCallersTrace, openTelemetry, rememberedTelemetry } from "../runs/telemetry.ts";

interface Flags extends Pick<SettingFlags, "config" | "model"> {
  readonly var: readonly string[];
  readonly varsFile?: string;
  readonly input?: string;
  readonly prompt?: string;
  readonly script?: string;
  readonly resume?: string;
  readonly by: string;
  readonly store?: string;
}

export function chatCommand(): Command {
  return new Command()
    .description("Talk with a pack in the terminal: one line is one message, the model's text is the answer.")
    .argument("[pack]", "the pack; may be left out in a folder that holds one")
    .option(
      "--var <name=value>",
      "a variable; @file for a file's text",
      (value, all: readonly string[]) => [...all, value],
      [],
    )
    .option("--vars-file <file>", "variables as YAML or JSON")
    .option("--input <text>", "the task; the model speaks first then")
    .option("--prompt <name>", "which prompt of a pack without a workflow")
    .option("--script <file>", "answers of a scripted model and tools")
    .option("--model <name>", "the model, like anthropic/claude-sonnet-5")
    .option("--config <file>", "settings, in place of packloop.yaml beside the pack")
    .option("--resume <run>", "go on with a conversation; @ is the last run")
    .option("--by <name>", "who speaks", "user")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .addHelpText(
      "after",
      [
        "",
        "Where an event is waited for, a line that is its name sends it. /event NAME, /approve STEP,",
        "/reject STEP REASON and /quit are commands.",
        "",
        "Examples:",
        "  packloop chat support.pack.yaml --script script.yaml",
        "  packloop chat --resume @",
        "",
        "Exit codes: 0 completed, 1 failed, 2 bad input, 5 no such run, 6 locked, 10 waiting, 11 budget exhausted, 12 cancelled",
      ].join("\n"),
    )
    .action(async (pack: string | undefined, flags: Flags) => {
      process.exitCode = await chat(pack, flags);
    });
}

async function chat(path: string | undefined, flags: Flags): Promise<number> {
  if (flags.resume !== undefined && path !== undefined)
    throw usageError("give a pack, or --resume with a run, not both");
  const script = flags.script === undefined ? undefined : loadScript(flags.script);
  const loaded = flags.resume === undefined ? await loadProgram(onePack(path)) : undefined;
  const place = loaded === undefined ? {} : startPlace(loaded.program, flags);
  const variables = loaded === undefined ? {} : startVariables(loaded.program, flags, place);
  if (loaded !== undefined) refuseEarly(loaded, { mode: "conversational", variables, place });
  const server = await runningServer(flags.store);
  if (server !== undefined) {
    const begin = { file: path, flags, variables, script: script?.value };
    return chatOnServer(server, flags, loaded ? serverStart(loaded, begin) : (flags.resume ?? "@"));
  }
  const worlds = openWorlds({
    store: flags.store,
    script: script?.script,
    adjust: (settings) => adjusted(settings, flags),
  });
  const config = loaded && runConfigFor(onePack(path), flags);
  const terms =
    loaded &&
    config &&
    (await startTerms(worlds, {
      program: loaded.program,
      config,
      script: script?.script,
      flags,
      limits: {},
    }));
  const store = await openStore({
    store: flags.store,
    readOnly: false,
    ...(loaded !== undefined && { create: true }),
  });
  await using telemetry =
    flags.resume === undefined
      ? await openTelemetry(config?.settings.telemetry)
      : await rememberedTelemetry(store, flags.resume, (settings) => adjusted(settings, flags));
  let show = chatShow({});
  let id = newRunId(Date.now());
  await using engine = openEngine({
    worlds,
    store,
    telemetry,
    people: true,
    // An agent's run is no part of the conversation.
    onTurn: (of, row) => (of === id ? show(row) : undefined),
  });
  if (flags.resume !== undefined) {
    const found = await loadRun(store, flags.resume);
    id = found.id;
    show = chatShow(found.run.open);
    await engine.resume(id);
    return await talk(partnerIn(engine, id), id, flags.by);
  }
  const { program, digest, text } = loaded as NonNullable<typeof loaded>;
  const request: StartRequest = {
    ...{ id, program, digest, source: text },
    setup: { file: path ?? ".", ...terms?.setup, ...(script !== undefined && { script: script.value }) },
    input: { mode: "conversational", variables, input: flags.input ?? "", ...terms?.input, ...place },
  };
  const started = await inCallersTrace(() => engine.start(request));
  if (started.kind === "refused") throw refusalError(started.refusal);
  note(`${id}  ${program.id} ${program.version}`);
  return await talk(partnerIn(engine, id), id, flags.by);
}

interface Begin {
  readonly file: string | undefined;
  readonly flags: Flags;
  readonly variables: JsonObject;
  readonly script: JsonObject | undefined;
}

function serverStart({ text, program }: LoadedPack, { file, flags, variables, script }: Begin): ServerStart {
  const { input = "", prompt } = flags;
  const pack = { pack: text, file: onePack(file), beside: besideOf(program) };
  return { ...pack, variables, input, prompt, script, agent: undefined, key: undefined, limits: {} };
}

function partnerIn(engine: Engine, id: string): TalkPartner {
  return {
    settled: () => engine.settled(id),
    summary: (run) => summaryFor(engine, id, run),
    letGo() {
      engine.pause(0).catch((error: unknown) => note(`error: ${String(error)}`));
    },
    async say(input, run) {
      const submitted = await inCallersTrace(() => engine.submit(id, input));
      if (submitted.kind === "refused") {
        note(refusalText(submitted.refusal));
        return run;
      }
      if (submitted.kind === "ignored") note(`ignored: ${submitted.why}`);
      return engine.settled(id);
    },
  };
}
