// A tool behind a command: `exec: [program, argument, …]`. The call goes in as one JSON object on stdin, the
// answer comes out as JSON on stdout. No shell reads anything: arguments of a model never become words of a
// command line.

import { isAbsolute, resolve } from "node:path";
import type { Json } from "../../../base/json.ts";
import type { CallContext } from "../../../engine/ports.ts";
import { handedOn } from "../../../process/handed-on.ts";
import { runProgram } from "../../../process/run-program.ts";
import type { BoundTool, Surroundings } from "../bound-tool.ts";
import type { OptionReader } from "../option-reader.ts";
import { execAnswer } from "./exec-answer.ts";

/** Stands in for what is not a list of texts, which the reader reports; nothing runs with it. */
const NOTHING = ["?"];

export function bindExec(reader: OptionReader, around: Surroundings, name: string): BoundTool {
  const argv = reader.texts("exec") ?? NOTHING;
  const env = reader.texts("env") ?? [];
  const timeoutMs = (reader.number("timeout_sec", { least: 0.1, most: 3600 }) ?? 120) * 1000;
  const stdoutMax = reader.number("max_output_bytes", { least: 1, most: 10_000_000 }) ?? 1_000_000;
  const [program = ""] = argv;
  if (program === "") reader.wrong("exec", "`exec` names no program");
  return {
    tier: "destructive",
    safe: false,
    call: async (args, context) => {
      const workspace = await around.workspaceOf(context.run);
      const end = await runProgram({
        argv: [programOf(program, around), ...argv.slice(1)],
        cwd: around.folder,
        env: handedOn(env, around.env),
        stdin: `${JSON.stringify(requestOf(args, { context, name, workspace }))}\n`,
        timeoutMs,
        stdoutMax,
        signal: context.signal,
      });
      return execAnswer(end, { timeoutMs, stdoutMax });
    },
  };
}

/** A path starts at the folder of the configuration, a bare name is looked for on PATH. */
const programOf = (program: string, around: Surroundings): string =>
  program.includes("/") && !isAbsolute(program) ? resolve(around.folder, program) : program;

interface Call {
  readonly context: CallContext;
  readonly name: string;
  readonly workspace: string;
}

function requestOf(args: Json, { context, name, workspace }: Call): Json {
  const { run, step, key, attempt, handle, input } = context;
  return {
    tool: name,
    args,
    run,
    step,
    key,
    attempt,
    workspace,
    ...(handle !== undefined && { handle }),
    ...(input !== undefined && { input }),
  };
}
