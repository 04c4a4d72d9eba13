// Runs the process of one job and judges what came of it.

import { get, isObject, type Json } from "../base/json.ts";
import { handedOn } from "../process/handed-on.ts";
import {
  judgePlugin,
  type PluginRequest,
  type PluginSuccess,
  STDOUT_MAX,
} from "../process/plugin-protocol.ts";
import { type ProgramEnd, runProgram } from "../process/run-program.ts";
import type { InstalledPlugin } from "./installed-plugins.ts";
import type { Trace } from "./queue/settle.ts";
import type { JobFailure } from "./router/outcome.ts";

export interface JobRun {
  readonly verdict: PluginSuccess | JobFailure;
  readonly trace: Trace;
  /** Keys of its answer that mean nothing. */
  readonly unknownKeys: readonly string[];
}

export interface JobProcess {
  readonly plugin: InstalledPlugin;
  readonly request: PluginRequest;
  readonly timeoutMs: number;
  readonly isStrict: boolean;
  readonly signal: AbortSignal;
  readonly onStarted: (pid: number) => Promise<void>;
}

/** Rejects only when the gateway gives up on it. */
export async function runJob({ plugin, request, isStrict, ...rest }: JobProcess): Promise<JobRun> {
  const end = await runProgram({
    argv: [plugin.program],
    cwd: process.cwd(),
    env: environment(plugin.entry.passEnv),
    stdin: `${JSON.stringify(request)}\n`,
    stdoutMax: STDOUT_MAX,
    ...rest,
  });
  const judged = judgePlugin(end);
  const document = judged.kind === "ok" || judged.code === "tool_failed" ? documentIn(end) : undefined;
  const isBlank = isStrict && judged.kind === "ok" && judged.result === undefined;
  const blank: JobFailure = {
    ...{ kind: "failed", code: "tool_broken", retry: true },
    message: "`result` of its answer is blank, and plugins are held to the newer protocol here",
  };
  return {
    verdict: isBlank ? blank : judged,
    trace: {
      exitCode: end.kind === "exited" ? end.code : null,
      document: document === undefined ? null : JSON.stringify(document),
      stderr: end.kind === "not-started" ? "" : end.stderr,
    },
    unknownKeys: Object.keys(document ?? {}).filter((key) => !RESPONSE_KEYS.has(key)),
  };
}

const RESPONSE_KEYS = new Set(["status", "result", "error", "retry", "events", "state_updates", "logs"]);

function documentIn(end: ProgramEnd): Record<string, Json> | undefined {
  if (end.kind !== "exited") return undefined;
  try {
    const value = JSON.parse(end.stdout.toString("utf8")) as Json;
    return isObject(value) && get(value, "status") !== undefined ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The whole environment, or what programs need to run at all and what is named. */
function environment(passed: readonly string[] | undefined): Readonly<Record<string, string>> {
  const own = process.env as Readonly<Record<string, string>>;
  if (passed === undefined) return own;
  // Less than other programs of ours are given: a plugin's list of variables is exact.
  return handedOn(passed, (name) => (name === "LC_ALL" && !passed.includes(name) ? undefined : own[name]));
}
