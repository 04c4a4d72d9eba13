// Runs one process to its end, or to the end of its time. Whatever it started goes with it: its group, and
// processes that left the group, which are known by a mark in their environment.

import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { killQuietly, ProcessGroup } from "../../../process/process-group.ts";
import { errorCode, ToolProblem } from "../tool-problem.ts";
import { OutputWindow } from "./output-window.ts";

export interface ProcessStart {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Of both streams together. */
  readonly outputBytes: number;
  readonly signal: AbortSignal;
}

export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly killedBy: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly durationMs: number;
}

const GRACE_MS = 2000;
const DRAIN_MS = 500;
const MARK = "PACKLOOP_CALL";

export async function runProcess({ argv, env, outputBytes, ...start }: ProcessStart): Promise<ProcessEnd> {
  const mark = randomUUID();
  try {
    using group = new ProcessGroup({
      ...{ ...start, argv, env: { ...env, [MARK]: mark }, stdin: "ignore" },
      ...{ graceMs: GRACE_MS, drainMs: DRAIN_MS },
    });
    const stdout = collected(group.child.stdout, outputBytes / 2);
    const stderr = collected(group.child.stderr, outputBytes / 2);
    const { code, killedBy, durationMs } = await group.ended;
    const timedOut = group.stoppedFor === "timeout";
    return { exitCode: code, killedBy, stdout: stdout.text(), stderr: stderr.text(), timedOut, durationMs };
  } catch (error) {
    throw startProblem(argv[0] ?? "", error);
  } finally {
    await endStrays(mark);
  }
}

function startProblem(file: string, error: unknown): unknown {
  const code = errorCode(error);
  if (code !== "ENOENT" && code !== "EACCES") return error;
  const message = `\`${file}\` cannot be started (${code}: is it installed and on PATH?)`;
  return new ToolProblem("no_program", message, { cause: error });
}

function collected(stream: ChildProcess["stdout"], bytes: number): OutputWindow {
  const output = new OutputWindow(Math.floor(bytes));
  stream?.on("data", (chunk: Buffer) => output.add(chunk));
  return output;
}

/** A stray may have started others while it was looked for; nobody starts processes faster for long. */
async function endStrays(mark: string): Promise<void> {
  for (let round = 0; round < 10; round++) {
    const strays = await marked(mark);
    if (strays.length === 0) return;
    for (const pid of strays) killQuietly(pid, "SIGKILL");
  }
}

/** Living processes with the mark in their environment. Other systems than Linux do not show it. */
async function marked(mark: string): Promise<readonly number[]> {
  if (process.platform !== "linux") return [];
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) =>
      (await environmentOf(name)).includes(`${MARK}=${mark}`) ? [Number(name)] : [],
    ),
  );
  return found.flat();
}

async function environmentOf(pid: string): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/environ`, "latin1");
  } catch (error) {
    // Ended meanwhile, or somebody else's.
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(errorCode(error) ?? "")) return "";
    throw error;
  }
}
