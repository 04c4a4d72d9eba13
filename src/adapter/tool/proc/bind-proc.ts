// The built-in tool `proc`: runs a command of the configuration in the run's workspace.

import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Json, JsonObject } from "../../../base/json.ts";
import type { BoundTool, Surroundings } from "../bound-tool.ts";
import { inRunOrder } from "../fs/in-turn.ts";
import type { OptionReader } from "../option-reader.ts";
import { answerOf } from "../tool-problem.ts";
import { type CommandOf, readCommand } from "./command.ts";
import { type ProcessEnd, runProcess } from "./run-process.ts";
import { SANDBOX_HOME, type SandboxMode, sandboxWrapper } from "./sandbox.ts";
import { testReport } from "./test-report.ts";

interface ProcOptions {
  readonly commandOf: CommandOf;
  /** Names of variables that are handed on. */
  readonly env: readonly string[];
  readonly timeoutSec: number;
  readonly outputBytes: number;
  readonly sandbox: SandboxMode;
  readonly network: boolean;
}

const MODES: readonly SandboxMode[] = ["bubblewrap", "none", "auto"];
const HANDED_ON = ["PATH", "LANG", "LC_ALL", "TZ"];

export function bindProc(reader: OptionReader, around: Surroundings): BoundTool {
  const options: ProcOptions = {
    commandOf: readCommand(reader),
    env: reader.texts("env") ?? HANDED_ON,
    timeoutSec: reader.number("timeout_sec", { least: 0.1, most: 3600 }) ?? 120,
    outputBytes: reader.number("max_output_bytes", { least: 1024, most: 5 * 1024 * 1024 }) ?? 256 * 1024,
    sandbox: reader.oneOf("sandbox", MODES) ?? "bubblewrap",
    network: reader.flag("network") ?? false,
  };
  return {
    tier: "destructive",
    safe: false,
    definition: { description: "Runs a command in the workspace.", parameters: PARAMETERS },
    call: (args, context) =>
      inRunOrder(context.run, () =>
        answerOf(async () => {
          const workspace = await realpath(await around.workspaceOf(context.run));
          const argv = await options.commandOf(args, workspace);
          const end = await run(argv, { options, around, workspace, signal: context.signal });
          return resultOf(end, workspace);
        }),
      ),
  };
}

const PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    argv: { type: "array", items: { type: "string" }, description: "the program and its arguments" },
  },
};

interface Surrounded {
  readonly options: ProcOptions;
  readonly around: Surroundings;
  readonly workspace: string;
  readonly signal: AbortSignal;
}

async function run(argv: readonly string[], { options, around, workspace, signal }: Surrounded) {
  const path = searchPath(around.env("PATH"));
  const wrapper = await sandboxWrapper(options.sandbox, {
    workspace,
    folder: await realpath(around.folder),
    path,
    network: options.network,
    cpuSec: Math.ceil(options.timeoutSec) * 4,
  });
  const home =
    wrapper === undefined ? await mkdtemp(join(await realpath(tmpdir()), "packloop-proc-")) : undefined;
  try {
    return await runProcess({
      argv: [...(wrapper ?? []), ...argv],
      cwd: workspace,
      env: { ...environment(options.env, around, home ?? SANDBOX_HOME), PATH: path },
      timeoutMs: options.timeoutSec * 1000,
      outputBytes: options.outputBytes,
      signal,
    });
  } finally {
    if (home !== undefined) await rm(home, { recursive: true, force: true });
  }
}

/** Only what is named is handed on; plain output is asked for, and what a program keeps is thrown away. */
function environment(
  names: readonly string[],
  around: Surroundings,
  home: string,
): Readonly<Record<string, string>> {
  const env: Record<string, string> = { HOME: home, TMPDIR: home, CI: "true", NO_COLOR: "1", TERM: "dumb" };
  for (const name of names) {
    const value = around.env(name);
    if (value !== undefined) env[name] = value;
  }
  return env;
}

/** Relative entries would let a file of the workspace stand in for a program. */
function searchPath(path: string | undefined): string {
  const entries = (path ?? "/usr/local/bin:/usr/bin:/bin").split(":");
  return entries.filter((entry) => isAbsolute(entry)).join(":");
}

function resultOf(end: ProcessEnd, workspace: string): Json {
  const { exitCode, killedBy, stdout, stderr, timedOut, durationMs } = end;
  const report = testReport({ stdout, stderr }, workspace);
  return {
    exit_code: exitCode,
    ...(killedBy !== null && { killed_by: killedBy }),
    stdout,
    stderr,
    timed_out: timedOut,
    duration_ms: durationMs,
    ...(report !== undefined && { report }),
  };
}
